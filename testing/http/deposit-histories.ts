import type { EventLog } from '../../src/event-log/event-log.ts';

/** Number of events of each type of one deposit, and the request that made it. */
export type DepositHistory = {
  readonly id: string;
  /** The `X-Request-Id` of the request that created it. */
  readonly createdBy: string;
  readonly counts: ReadonlyMap<string, number>;
};

/** Answers to clients, to be compared with the log. */
export type Answered = {
  /** Deposits that were answered 201 and completed: id and request of the creation. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** Requests to create that were answered 503: each has made a deposit if its append was really committed. */
  readonly refused: ReadonlySet<string>;
};

export type Judgement = {
  /** Deposits that were acknowledged, and are not in the log as their request made them, or not loaded. */
  readonly lost: readonly string[];
  /**
   * Deposits that were made, completed, verified or loaded twice, or made by an unknown request or by one that made
   * another.
   */
  readonly doubled: readonly string[];
  /**
   * Deposits of requests that were answered 503: the append was committed and its answer lost, so the sender could not
   * know. The request that repeats it makes another deposit, which is no double.
   */
  readonly orphans: readonly string[];
};

const ONCE = ['DepositCreated', 'DepositCompleted', 'DepositVerified', 'DepositLoaded'];

/** Resolves to the histories by deposit id. */
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

/** Compares the answers to clients with the log. */
export function judge(
  histories: ReadonlyMap<string, DepositHistory>,
  { acknowledged, refused }: Answered,
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
