import type { EventLog } from '../../src/event-log/event-log.ts';

/** How often each thing happened to one deposit, and which request made it. */
export type DepositHistory = {
  readonly id: string;
  /** The `X-Request-Id` of the request that created it. */
  readonly createdBy: string;
  readonly counts: ReadonlyMap<string, number>;
};

/** What clients were told, to be held against the log. */
export type Told = {
  /** Deposits that were answered 201 and completed: id and request of the creation. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** Requests to create that were answered 503: each has made a deposit if its append was really committed. */
  readonly refused: ReadonlySet<string>;
};

export type Judgement = {
  /** Acknowledged, and not in the log as their request made them, or not loaded. */
  readonly lost: readonly string[];
  /** Made, completed, verified or loaded twice, or made by a request that nobody sent or that made another. */
  readonly doubled: readonly string[];
  /**
   * Made by a request that was answered 503: its append was committed and the answer got lost, so its sender could
   * not know. The request that repeats it makes a deposit of its own, which is no double.
   */
  readonly orphans: readonly string[];
};

const ONCE = ['DepositCreated', 'DepositCompleted', 'DepositVerified', 'DepositLoaded'];

/** By deposit id. */
export async function depositHistories(log: EventLog): Promise<ReadonlyMap<string, DepositHistory>> {
  const histories = new Map<string, DepositHistory & { counts: Map<string, number> }>();
  for await (const { stream, type, metadata } of log.readAll({ streamPrefixes: ['deposit-'] })) {
    const id = stream.slice('deposit-'.length);
    const known = histories.get(id);
    const createdBy = metadata['$correlationId'] as string; // the first event of a stream is of a request
    const history = known ?? { id, createdBy, counts: new Map() };
    if (!known) histories.set(id, history);
    history.counts.set(type, (history.counts.get(type) ?? 0) + 1);
  }
  return histories;
}

/** Holds what clients were told against what the log has. */
export function judge(
  histories: ReadonlyMap<string, DepositHistory>,
  { acknowledged, refused }: Told,
): Judgement {
  const makers = new Set(acknowledged.values());
  const seen = new Set<string>();
  const [doubled, orphans]: [string[], string[]] = [[], []];
  for (const { id, createdBy, counts } of histories.values()) {
    const isDouble = seen.has(createdBy) || ONCE.some((type) => (counts.get(type) ?? 0) > 1);
    seen.add(createdBy);
    if (refused.has(createdBy)) orphans.push(id);
    if (isDouble || !(makers.has(createdBy) || refused.has(createdBy))) doubled.push(id);
  }
  const lost = [...acknowledged].filter(([id, createdBy]) => {
    const history = histories.get(id);
    return history?.createdBy !== createdBy || !history.counts.has('DepositLoaded');
  });
  return { lost: lost.map(([id]) => id), doubled, orphans };
}
