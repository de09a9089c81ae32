import { AppendBatch } from '../../event-log/append-batch.ts';
import {
  type EventLog,
  type Position,
  type RecordedEvent,
  WrongExpectedRevision,
} from '../../event-log/event-log.ts';
import { type CopyableEvent, differenceBetween, inWords } from '../../event-log/integrity/copyable-event.ts';
import { estimateTotal } from '../../event-log/progress-estimate.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';

export type CopyOptions = {
  /** Backend of the target, which determines how many appends run concurrently. */
  readonly engine?: keyof typeof APPENDS_AT_ONCE;
  /** `total` is an estimate, if there is one. */
  readonly progress?: (step: 'compared' | 'copied', events: number, total?: number) => void;
  /** Awaited before the first append; not called if the target has all events. */
  readonly onBeforeAppend?: () => Promise<void>;
  /** Aborts the copy. The target stays consistent; a repeated copy continues after its last event. */
  readonly signal?: AbortSignal;
};

export type Copied = {
  /** Number of events that an earlier copy had added. */
  readonly found: number;
  readonly copied: number;
};

/** The target contains other events, or another process writes to it. */
export class LogCopyRefused extends errorsOfCode('LOG_COPY_REFUSED') {}

/** The target does not begin like the source; `difference` says where, the message also what to do. */
export class LogsDiffer extends LogCopyRefused {
  readonly difference: string;

  constructor(difference: string, advice: string) {
    super(`${difference} ${advice}`);
    this.difference = difference;
  }
}

/**
 * Maximum number of concurrent appends. The embedded log commits all appends of one event loop turn in one transaction,
 * in their order, up to this number.
 * EventStoreDB may reorder appends to different streams: there, each append must wait for the previous one to preserve
 * the global order.
 */
const APPENDS_AT_ONCE = { sqlite: 1000, eventstoredb: 1 } as const;

/**
 * Copies every event of `source` to `target`, with the same order, id, contents, stream and revision. The target must
 * be empty or contain the beginning of the source, as an interrupted copy leaves it. Existing events are compared, and
 * the copy continues after them.
 * @returns the counts, and the position up to which the source was read.
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
    const total = estimateTotal(read, upTo, head);
    options.progress?.(step, count, total && step === 'copied' ? total - found : total);
  };
  const copied = await copyEvents(events(), target, { ...options, progress });
  return { ...copied, upTo };
}

/** Copies events like {@link copyLog}, from any source. */
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
    if (done) throw targetLongerError(found, there);
    const difference = differenceBetween(wanted, there);
    if (difference !== undefined) throw otherEventsError(found, difference);
    options.progress?.('compared', found);
  }
  return found;
}

async function appendRest(
  source: AsyncIterator<CopyableEvent>,
  target: EventLog,
  { engine = 'eventstoredb', onBeforeAppend, progress, signal }: CopyOptions,
): Promise<number> {
  const most = APPENDS_AT_ONCE[engine];
  let copied = 0;
  let isFirst = true;
  let underWay = Promise.resolve(0);
  const finished = async (): Promise<number> => {
    copied += await underWay;
    if (copied > 0) progress?.('copied', copied);
    return copied;
  };
  const handOver = async (group: AppendBatch): Promise<void> => {
    await finished();
    signal?.throwIfAborted();
    if (isFirst && group.events > 0) await onBeforeAppend?.();
    isFirst = false;
    underWay = appendAll(group, target);
    underWay.catch(() => undefined); // its error is thrown where it is awaited
  };
  let group = new AppendBatch(most);
  try {
    // The next group is read while the last one is made durable.
    for await (const event of { [Symbol.asyncIterator]: () => source }) {
      if (group.add(event)) continue;
      await handOver(group);
      group = new AppendBatch(most);
      group.add(event);
    }
    await handOver(group);
    return await finished();
  } finally {
    await underWay.catch(() => undefined);
  }
}

/** Resolves to the number of events appended. All appends have settled when it settles. */
async function appendAll({ appends, events }: AppendBatch, target: EventLog): Promise<number> {
  const outcomes = await Promise.allSettled(
    appends.map((append) => target.append(append.stream, append.expected, append.events)),
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed === undefined) return events;
  throw failed.reason instanceof WrongExpectedRevision ? concurrentWriterError(failed.reason) : failed.reason;
}

function targetLongerError(number: number, there: CopyableEvent): LogsDiffer {
  const end = `which ends before event ${number} of the target (${inWords(there)})`;
  return new LogsDiffer(
    `The target has more than the source, ${end}.`,
    'Give an empty target, or copy in the other direction.',
  );
}

function otherEventsError(number: number, difference: string): LogsDiffer {
  return new LogsDiffer(`The target differs: its event ${number} ${difference}.`, 'Give an empty target.');
}

function concurrentWriterError(cause: WrongExpectedRevision): LogCopyRefused {
  const text = `${cause.message} Another program writes to the target, or events of this stream are missing in the source.`;
  return new LogCopyRefused(text, { cause });
}
