import { AppendGroup } from './append-group.ts';
import { type CopyableEvent, differenceBetween, inWords } from './copyable-event.ts';
import { estimatedTotal } from './estimated-total.ts';
import { type EventLog, type Position, type RecordedEvent, WrongExpectedRevision } from './event-log.ts';

export type CopyOptions = {
  /** Of the target: decides how fast it can be fed. */
  readonly engine?: keyof typeof APPENDS_AT_ONCE;
  /** `total` is about how many there will be, where that can be told. */
  readonly progress?: (step: 'compared' | 'copied', events: number, total?: number) => void;
  /** What the target holds when it aborts is whole; a copy begun again goes on after it. */
  readonly signal?: AbortSignal;
};

export type Copied = {
  /** Events that an earlier copy had brought. */
  readonly found: number;
  readonly copied: number;
};

/** The target holds something else, or somebody else writes to it. */
export class LogCopyRefused extends Error {
  override readonly name = 'LogCopyRefused';
  readonly code = 'LOG_COPY_REFUSED';
}

/**
 * Appends under way at the same time. What the embedded log is handed in one turn of the event loop it commits in
 * one transaction, in that order, up to this number. EventStoreDB lets appends to different streams overtake each
 * other: there the order of all events stays only when each append waits for the one before.
 */
const APPENDS_AT_ONCE = { sqlite: 1000, eventstoredb: 1 } as const;

/**
 * Brings every event of `source` into `target`, in the same order and with the same id, contents, stream and
 * revision. The target must be empty or hold the beginning of the source, as a copy that was broken off left it:
 * what is there is compared, and the copy goes on after it.
 * @returns also where the source was read to.
 * @throws {LogCopyRefused}
 * @throws {EventLogUnavailable}
 */
export async function copyLog(
  source: EventLog,
  target: EventLog,
  options: CopyOptions = {},
): Promise<Copied & { readonly upTo: Position | undefined }> {
  const head = await source.head();
  let upTo: Position | undefined;
  let [read, found] = [0, 0];
  async function* events(): AsyncGenerator<RecordedEvent> {
    for await (const event of source.readAll(options)) {
      upTo = event.position;
      read += 1;
      yield event;
    }
  }
  const progress: CopyOptions['progress'] = (step, count) => {
    if (step === 'compared') found = count;
    const total = estimatedTotal(read, upTo, head);
    options.progress?.(step, count, total && step === 'copied' ? total - found : total);
  };
  const copied = await copyEvents(events(), target, { ...options, progress });
  return { ...copied, upTo };
}

/** As {@link copyLog}, from wherever the events come. */
export async function copyEvents(
  events: AsyncIterable<CopyableEvent>,
  target: EventLog,
  options: CopyOptions = {},
): Promise<Copied> {
  const source = events[Symbol.asyncIterator]();
  try {
    const found = await compareBeginning(source, target, options);
    const copied = await appendRest(source, target, options);
    return { found, copied };
  } finally {
    await source.return?.();
  }
}

async function compareBeginning(
  source: AsyncIterator<CopyableEvent>,
  target: EventLog,
  options: CopyOptions,
): Promise<number> {
  let found = 0;
  for await (const there of target.readAll(options)) {
    const { value: wanted, done } = await source.next();
    found += 1;
    if (done) throw beyond(found, there);
    const difference = differenceBetween(wanted, there);
    if (difference !== undefined) throw foreign(found, difference);
    options.progress?.('compared', found);
  }
  return found;
}

async function appendRest(
  source: AsyncIterator<CopyableEvent>,
  target: EventLog,
  { engine = 'eventstoredb', progress, signal }: CopyOptions,
): Promise<number> {
  const most = APPENDS_AT_ONCE[engine];
  let copied = 0;
  let underWay = Promise.resolve(0);
  const finished = async (): Promise<number> => {
    copied += await underWay;
    if (copied > 0) progress?.('copied', copied);
    return copied;
  };
  const handOver = async (group: AppendGroup): Promise<void> => {
    await finished();
    signal?.throwIfAborted();
    underWay = appendAll(group, target);
    underWay.catch(() => undefined); // whoever waits for it hears of it
  };
  let group = new AppendGroup(most);
  try {
    // The next group is read while the last one is made durable.
    for await (const event of { [Symbol.asyncIterator]: () => source }) {
      if (group.add(event)) continue;
      await handOver(group);
      group = new AppendGroup(most);
      group.add(event);
    }
    await handOver(group);
    return await finished();
  } finally {
    await underWay.catch(() => undefined);
  }
}

/** Tells how many events; nothing is under way any more when it settles. */
async function appendAll({ appends, events }: AppendGroup, target: EventLog): Promise<number> {
  const outcomes = await Promise.allSettled(
    appends.map((append) => target.append(append.stream, append.expected, append.events)),
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed === undefined) return events;
  throw failed.reason instanceof WrongExpectedRevision ? notAlone(failed.reason) : failed.reason;
}

function beyond(number: number, there: CopyableEvent): LogCopyRefused {
  return new LogCopyRefused(
    `The target holds more than the source, which ends before event ${number} of the target (${inWords(there)}). Is this the right direction?`,
  );
}

function foreign(number: number, difference: string): LogCopyRefused {
  return new LogCopyRefused(
    `The target holds something else: its event ${number} ${difference}. Give an empty target.`,
  );
}

function notAlone(cause: WrongExpectedRevision): LogCopyRefused {
  const text = `${cause.message} Somebody else writes to the target, or the source lacks events of this stream.`;
  return new LogCopyRefused(text, { cause });
}
