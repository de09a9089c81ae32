import { chainFaults } from '../../event-log/integrity/chain-errors.ts';
import { type CopyableEvent, differenceBetween, inWords } from '../../event-log/integrity/copyable-event.ts';
import { StreamHeads } from '../../event-log/integrity/stream-heads.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';

export type VerifyCopyOptions = {
  /**
   * Number of events that the target must contain. The source may contain more by now, and an earlier copy may have
   * added them.
   */
  readonly total: number;
  readonly progress?: (events: number) => void;
};

/** The copy differs from the source, or the source differs from what was once written. */
export class LogCopyWrong extends errorsOfCode('LOG_COPY_WRONG') {}

/**
 * Compares both logs from their beginning, event by event: contents, hashes, and that every event names its
 * predecessor.
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
      if (done) throw wrongCopyError(`the source ends before event ${number} (${inWords(found)})`);
      const difference = differenceBetween(value, found);
      if (difference !== undefined) throw wrongCopyError(`event ${number} ${difference}`);
      const fault = chainFaults(found, heads).find(([code]) => code !== 'NOT_SEALED'); // an unsealed event never had a hash
      if (fault) throw wrongCopyError(`event ${number} (${inWords(found)}) ${fault[1]}, in both logs`);
      progress?.(number);
    }
  } finally {
    await wanted.return?.();
  }
  if (number < total) throw wrongCopyError(`the target ends after event ${number} of ${total}`);
}

function wrongCopyError(how: string): LogCopyWrong {
  return new LogCopyWrong(`The copy is wrong: ${how}.`);
}
