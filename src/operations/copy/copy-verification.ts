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
      const fault = hashFault(found, heads);
      if (fault !== undefined)
        throw wrongCopyError(`event ${number} (${inWords(found)}) ${fault}, in both logs`);
      progress?.(number);
    }
  } finally {
    await wanted.return?.();
  }
  if (number < total) throw wrongCopyError(`the target ends after event ${number} of ${total}`);
}

/**
 * Resolves to the first event that does not have the hash of its contents, or does not name its predecessor, with what is
 * wrong with it. {@link verifyCopy} refuses any copy of such a log.
 */
export async function firstAlteredEvent(
  events: AsyncIterable<CopyableEvent>,
  progress: (events: number) => void,
): Promise<string | undefined> {
  const heads = new StreamHeads();
  let number = 0;
  for await (const event of events) {
    number += 1;
    const fault = hashFault(event, heads);
    if (fault !== undefined) return `Event ${number} (${inWords(event)}) ${fault}.`;
    progress(number);
  }
  return undefined;
}

/** Returns what is wrong with the hash of the next event; an unsealed one never had a hash. */
function hashFault(event: CopyableEvent, heads: StreamHeads): string | undefined {
  return chainFaults(event, heads).find(([code]) => code !== 'NOT_SEALED')?.[1];
}

function wrongCopyError(how: string): LogCopyWrong {
  return new LogCopyWrong(`The copy is wrong: ${how}.`);
}
