import { type LoadedObjects, objectIndexes } from '../../projections/loaded-objects.ts';
import { deposits } from '../domain/aggregates.ts';
import {
  type EventLog,
  EventLogUnavailable,
  type Position,
  type RecordedEvent,
} from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import type { Projector } from '../views/projector.ts';
import type { View } from '../views/view.ts';
import type { DepositFilter } from './deposit-filter.ts';

/** The client of a request and the collections granted to it; deposits of other collections do not exist for it. */
export type Requester = { readonly client: string; readonly collections: readonly string[] };

export type LoadedDeposit = { readonly [Key in keyof LoadedObjects]: NonNullable<LoadedObjects[Key]> };

/** Timeout for reading from the log what was loaded since the views were updated. */
const CATCH_UP_TIMEOUT_MS = 5000;

/** Maximum number of deposits per collection that {@link LoadedDeposits.newestOfTrees} examines, in any status. */
const MAX_EXAMINED = 1000;

/**
 * Finds the deposits of a client that are done by their identifiers. The cost does not depend on the number of
 * deposits.
 */
export class LoadedDeposits {
  readonly #view: Pick<View<LoadedObjects>, 'find'>;
  readonly #projector: Pick<Projector, 'position' | 'passed'>;
  readonly #log: EventLog;
  readonly #timeoutMs: number;

  constructor(
    view: Pick<View<LoadedObjects>, 'find'>,
    projector: Pick<Projector, 'position' | 'passed'>,
    log: EventLog,
    timeoutMs = CATCH_UP_TIMEOUT_MS,
  ) {
    this.#view = view;
    this.#projector = projector;
    this.#log = log;
    this.#timeoutMs = timeoutMs;
  }

  /** Returns at most `limit` deposits with ids below `below`, the newest first, according to the views of this node. */
  find(
    { client, collections }: Requester,
    conditions: DepositFilter,
    limit: number,
    below = Infinity,
  ): readonly LoadedDeposit[] {
    const upTo = below === Infinity ? undefined : { field: 'depositId', value: below - 1 };
    const order = { orderBy: 'depositId', descending: true, limit };
    const found = collections.flatMap((collection) =>
      this.#view.find({
        index: indexFor(conditions),
        equal: { client, collection, ...conditions },
        ...(upTo && { upTo }),
        ...order,
      }),
    );
    // A row that matches has an identifier, so it has all of them.
    return (found as LoadedDeposit[]).toSorted((a, b) => b.depositId - a.depositId).slice(0, limit);
  }

  /** Returns the newest deposit of each tree, at most `limit`. Deposits that are not among the newest are ignored. */
  newestOfTrees(
    { client, collections }: Requester,
    limit: number,
    origin?: string,
  ): readonly LoadedDeposit[] {
    const newest = collections.flatMap((collection) =>
      this.#view.find({
        index: objectIndexes.newest,
        equal: { client, collection },
        orderBy: 'depositId',
        descending: true,
        limit: MAX_EXAMINED,
      }),
    );
    const loaded = newest.filter(isLoaded).filter((one) => origin === undefined || one.origin === origin);
    const byTree = new Map<string, LoadedDeposit>();
    for (const one of loaded.toSorted((a, b) => b.depositId - a.depositId))
      if (!byTree.has(one.directory)) byTree.set(one.directory, one);
    return [...byTree.values()].slice(0, limit);
  }

  /**
   * Resolves to `true` once the views contain everything loaded by now, on any node; to `false` if they contained it
   * before.
   * @throws {EventLogUnavailable} the log does not answer in time
   */
  async catchUp(): Promise<boolean> {
    let latest: Position | undefined;
    await searchLoaded(this.#log, this.#projector.position, this.#timeoutMs, ({ position }) => {
      latest = position;
      return false;
    });
    if (latest === undefined) return false;
    if (!(await this.#projector.passed(latest, this.#timeoutMs))) throw logTooSlow(undefined);
    return true;
  }
}

/**
 * Resolves to whether one of the events by which any node has loaded a deposit after a position satisfies `fits`.
 * @throws {EventLogUnavailable} the log does not answer in time
 */
export async function searchLoaded(
  log: EventLog,
  after: Position | undefined,
  timeoutMs: number | undefined,
  fits: (stored: RecordedEvent, signal: AbortSignal) => boolean | Promise<boolean>,
): Promise<boolean> {
  const signal = clock.timeoutSignal(timeoutMs ?? CATCH_UP_TIMEOUT_MS);
  try {
    for await (const stored of log.readAll({ after, streamPrefixes: [deposits.prefix], signal })) {
      if (stored.type === 'DepositLoaded' && (await fits(stored, signal))) return true;
    }
    return false;
  } catch (cause) {
    throw signal.aborted ? logTooSlow(cause) : cause;
  }
}

function isLoaded(found: LoadedObjects): found is LoadedDeposit {
  return found.directory !== null;
}

function logTooSlow(cause: unknown): EventLogUnavailable {
  return new EventLogUnavailable('The event log did not answer in time.', { cause });
}

/** Returns the index for a filter: snapshot and revision belong to one deposit, a directory may belong to many. */
export function indexFor({ snapshot, revision, origin }: DepositFilter): readonly string[] {
  if (snapshot !== undefined) return objectIndexes.snapshot;
  if (revision !== undefined) return objectIndexes.revision;
  return origin === undefined ? objectIndexes.newestOfDirectory : objectIndexes.newestOfDirectoryAndOrigin;
}
