import { type DepositStatusView, depositLists, depositStatus } from '../../projections/deposit-status.ts';
import { type LoadedObjects, loadedObjects, objectIndexes } from '../../projections/loaded-objects.ts';
import { deposits } from '../domain/aggregates.ts';
import type { DepositLoaded } from '../domain/deposit/events.ts';
import {
  type EventLog,
  EventLogUnavailable,
  type Position,
  type RecordedEvent,
} from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import { foldStream } from '../views/fold.ts';
import type { Projector } from '../views/projector.ts';
import type { ReachedByQueries, View, ViewQuery } from '../views/view.ts';
import type { DepositFilter } from './deposit-filter.ts';

/** The client of a request and the collections granted to it; deposits of other collections do not exist for it. */
export type Requester = { readonly client: string; readonly collections: readonly string[] };

export type LoadedDeposit = { readonly [Key in keyof LoadedObjects]: NonNullable<LoadedObjects[Key]> };

/** Timeout for reading from the log what was loaded since the views were updated. */
const CATCH_UP_TIMEOUT_MS = 5000;

/** Maximum number of deposits that {@link LoadedDeposits.newestOfTrees} examines, in any status and collection. */
const MAX_EXAMINED = 1000;
/** Maximum number of deposits that a query reads, and that the first queries of all collections read together. */
const [MAX_READ, MAX_READ_FIRST] = [100, 1000];

/**
 * Finds the deposits of a client that are done by their identifiers. The cost does not depend on the number of
 * deposits.
 */
export class LoadedDeposits {
  readonly #log: EventLog;
  readonly #objects: Pick<View<LoadedObjects>, 'find'>;
  readonly #statuses: Pick<View<DepositStatusView>, 'find'>;
  readonly #ofObjects: Pick<ReachedByQueries, 'position' | 'passed'>;
  readonly #ofStatuses: Pick<ReachedByQueries, 'position'>;
  readonly #timeoutMs: number;

  constructor(
    log: EventLog,
    projector: Pick<Projector, 'add' | 'queriesOf'>,
    timeoutMs = CATCH_UP_TIMEOUT_MS,
  ) {
    this.#log = log;
    this.#objects = projector.add(loadedObjects);
    this.#statuses = projector.add(depositStatus);
    this.#ofObjects = projector.queriesOf(loadedObjects);
    this.#ofStatuses = projector.queriesOf(depositStatus);
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Resolves to whether a deposit of this client from this origin is done. Includes every deposit that any node has
   * reported as done. A deposit that the view has as done stays done. Others may have been loaded after the position of
   * the view: that part of the log is read.
   * @throws {EventLogUnavailable} the log does not answer in time
   */
  async hasOrigin(client: string, origin: string): Promise<boolean> {
    const { position } = this.#ofStatuses;
    const equal = { client, origin, status: 'done' };
    if (this.#statuses.find({ index: depositLists.ofOrigin, equal, limit: 1 }).length > 0) return true;
    return this.#wasLoadedSince(position, client, (loaded) => loaded.origin === origin);
  }

  /** Resolves to whether a deposit of this client that is done has all these objects; see {@link hasOrigin}. */
  async hasAll(client: string, conditions: DepositFilter): Promise<boolean> {
    const { position } = this.#ofObjects;
    const query = { index: indexFor(conditions), equal: { client, ...conditions }, limit: 1 };
    if (this.#objects.find(query).length > 0) return true;
    const wanted = Object.entries(conditions) as [keyof DepositFilter, string][];
    return this.#wasLoadedSince(position, client, (loaded) =>
      wanted.every(([field, value]) => loaded[field] === value),
    );
  }

  /** Returns at most `limit` deposits with ids below `below`, the newest first, according to the views of this node. */
  find(
    { client, collections }: Requester,
    conditions: DepositFilter,
    limit: number,
    below = Infinity,
  ): readonly LoadedDeposit[] {
    const query = { index: indexFor(conditions), equal: { client, ...conditions } };
    // A row that matches has an identifier, so it has all of them.
    return this.#newestFirst(collections, query, limit, below).take(limit).toArray() as LoadedDeposit[];
  }

  /** Returns the newest deposit of each tree, at most `limit`. Deposits that are not among the newest are ignored. */
  newestOfTrees(
    { client, collections }: Requester,
    limit: number,
    origin?: string,
  ): readonly LoadedDeposit[] {
    const query = { index: objectIndexes.newest, equal: { client } };
    const byTree = new Map<string, LoadedDeposit>();
    for (const one of this.#newestFirst(collections, query, MAX_READ).take(MAX_EXAMINED)) {
      if (byTree.size === limit) break;
      if (!isLoaded(one) || (origin !== undefined && one.origin !== origin)) continue;
      if (!byTree.has(one.directory)) byTree.set(one.directory, one);
    }
    return [...byTree.values()];
  }

  /**
   * Yields the deposits of collections with ids below `below`, the newest first. Reads some of each collection, and
   * more only where they are used up, since a client may have many collections.
   */
  *#newestFirst(
    collections: readonly string[],
    { index, equal }: Required<Pick<ViewQuery, 'index' | 'equal'>>,
    wanted: number,
    below = Infinity,
  ): Generator<LoadedObjects> {
    const share = Math.ceil(MAX_READ_FIRST / Math.max(collections.length, 1));
    const limit = Math.min(wanted, MAX_READ, share);
    const pageOf = (collection: string, before: number) =>
      this.#objects.find({
        index,
        equal: { ...equal, collection },
        ...(before !== Infinity && { upTo: { field: 'depositId', value: before - 1 } }),
        orderBy: 'depositId',
        descending: true,
        limit,
      });
    const pages = collections.map((collection) => ({
      collection,
      rows: pageOf(collection, below).toReversed(),
    }));
    for (;;) {
      const next = newestOf(pages);
      const row = next?.rows.pop();
      if (!next || !row) return;
      yield row;
      if (next.rows.length === 0) next.rows = pageOf(next.collection, row.depositId).toReversed();
    }
  }

  /**
   * Resolves to `true` once the views contain everything loaded by now, on any node; to `false` if they contained it
   * before.
   * @throws {EventLogUnavailable} the log does not answer in time
   */
  async catchUp(): Promise<boolean> {
    let latest: Position | undefined;
    await this.#searchLog(this.#ofObjects.position, ({ position }) => {
      latest = position;
      return false;
    });
    if (latest === undefined) return false;
    if (!(await this.#ofObjects.passed(latest, this.#timeoutMs))) throw logTooSlow(undefined);
    return true;
  }

  /** Resolves to whether any node has loaded a matching deposit of the client after a position. */
  #wasLoadedSince(
    position: Position | undefined,
    client: string,
    fits: (loaded: DepositLoaded['data']) => boolean,
  ): Promise<boolean> {
    return this.#searchLog(position, async (stored, signal) => {
      const event = deposits.codec.read(stored);
      if (event.type !== 'DepositLoaded' || !fits(event.data)) return false;
      const deposit = await foldStream(loadedObjects, this.#log.readStream(stored.stream, { signal }));
      return deposit?.client === client;
    });
  }

  /**
   * Resolves to whether one of the events by which any node has loaded a deposit after a position satisfies `fits`.
   * @throws {EventLogUnavailable} the log does not answer in time
   */
  async #searchLog(
    after: Position | undefined,
    fits: (stored: RecordedEvent, signal: AbortSignal) => boolean | Promise<boolean>,
  ): Promise<boolean> {
    const signal = clock.timeoutSignal(this.#timeoutMs);
    try {
      for await (const stored of this.#log.readAll({ after, streamPrefixes: [deposits.prefix], signal })) {
        if (stored.type === 'DepositLoaded' && (await fits(stored, signal))) return true;
      }
      return false;
    } catch (cause) {
      throw signal.aborted ? logTooSlow(cause) : cause;
    }
  }
}

/** Returns the page whose last row is the newest; `undefined` if all are empty. */
function newestOf<Page extends { readonly rows: readonly LoadedObjects[] }>(
  pages: readonly Page[],
): Page | undefined {
  let newest: Page | undefined;
  for (const page of pages)
    if ((page.rows.at(-1)?.depositId ?? 0) > (newest?.rows.at(-1)?.depositId ?? 0)) newest = page;
  return newest;
}

function isLoaded(found: LoadedObjects): found is LoadedDeposit {
  return found.directory !== null;
}

function logTooSlow(cause: unknown): EventLogUnavailable {
  return new EventLogUnavailable('The event log did not answer in time.', { cause });
}

/** Returns the index for a filter: snapshot and revision belong to one deposit, a directory may belong to many. */
function indexFor({ snapshot, revision, origin }: DepositFilter): readonly string[] {
  if (snapshot !== undefined) return objectIndexes.snapshot;
  if (revision !== undefined) return objectIndexes.revision;
  return origin === undefined ? objectIndexes.newestOfDirectory : objectIndexes.newestOfDirectoryAndOrigin;
}
