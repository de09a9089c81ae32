import { chainFaults } from './chain-faults.ts';
import { type CopyableEvent, differenceBetween, inWords } from './copyable-event.ts';
import { StreamHeads } from './stream-heads.ts';

export type VerifyCopyOptions = {
  /** Events the target must hold; the source may hold more by now, and another copy may have brought them. */
  readonly total: number;
  readonly progress?: (events: number) => void;
};

/** A copy is not what it should be, or what was copied is not what was once written. */
export class LogCopyWrong extends Error {
  override readonly name = 'LogCopyWrong';
  readonly code = 'LOG_COPY_WRONG';
}

/**
 * Reads both logs from their beginning, event by event: that all is the same, that every hash recomputes and that
 * every event names the one before it.
 * @throws {LogCopyWrong} names the first event that is wrong.
 */
export async function verifyCopy(
  source: AsyncIterable<CopyableEvent>,
  target: AsyncIterable<CopyableEvent>,
  { total, progress }: VerifyCopyOptions,
): Promise<void> {
  const wanted = source[Symbol.asyncIterator]();
  const heads = new StreamHeads();
  let number = 0;
  try {
    for await (const found of target) {
      number += 1;
      const { value, done } = await wanted.next();
      if (done) throw wrong(`the source ends before event ${number} (${inWords(found)})`);
      const difference = differenceBetween(value, found);
      if (difference !== undefined) throw wrong(`event ${number} ${difference}`);
      const fault = chainFaults(found, heads).find(([code]) => code !== 'NOT_SEALED'); // it never was
      if (fault) throw wrong(`event ${number} (${inWords(found)}) ${fault[1]}, in both logs`);
      progress?.(number);
    }
  } finally {
    await wanted.return?.();
  }
  if (number < total) throw wrong(`the target ends after event ${number} of ${total}`);
}

function wrong(how: string): LogCopyWrong {
  return new LogCopyWrong(`The copy is wrong: ${how}.`);
}
