import { type LoadedObjects, objectIndexes } from '../../projections/loaded-objects.ts';
import { deposits } from '../domain/aggregates.ts';
import { type EventLog, EventLogUnavailable, type Position } from '../event-log/event-log.ts';
import type { Projector, View } from '../read-models/projector.ts';
import { clock } from '../tools/clock.ts';
import type { DepositConditions } from './deposit-conditions.ts';

/** Who asks: what of a collection that is not granted to it is not there for it. */
export type Asker = { readonly client: string; readonly collections: readonly string[] };

export type LoadedDeposit = { readonly [Key in keyof LoadedObjects]: NonNullable<LoadedObjects[Key]> };

/** How long the log may take to tell what has come since the views, in milliseconds. */
const PATIENCE = 5000;

/** Deposits of each collection that are looked at for {@link LoadedDeposits.newestOfTrees}, whatever became of them. */
const LOOKED_AT = 1000;

/** Finds deposits of a client that are done by their identifiers; what it costs does not depend on how many there are. */
export class LoadedDeposits {
  readonly #view: Pick<View<LoadedObjects>, 'find'>;
  readonly #projector: Pick<Projector, 'position' | 'passed'>;
  readonly #log: EventLog;
  readonly #patience: number;

  constructor(
    view: Pick<View<LoadedObjects>, 'find'>,
    projector: Pick<Projector, 'position' | 'passed'>,
    log: EventLog,
    patience = PATIENCE,
  ) {
    this.#view = view;
    this.#projector = projector;
    this.#log = log;
    this.#patience = patience;
  }

  /** At most `limit` with ids below `below`, the newest first, as the views of this node have them. */
  find(
    { client, collections }: Asker,
    conditions: DepositConditions,
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
    // Whatever is found has an identifier, so all of them.
    return (found as LoadedDeposit[]).toSorted((a, b) => b.depositId - a.depositId).slice(0, limit);
  }

  /** The newest of them of each tree, at most `limit`: what is not among the newest deposits is left out. */
  newestOfTrees({ client, collections }: Asker, limit: number, origin?: string): readonly LoadedDeposit[] {
    const newest = collections.flatMap((collection) =>
      this.#view.find({
        index: objectIndexes.newest,
        equal: { client, collection },
        orderBy: 'depositId',
        descending: true,
        limit: LOOKED_AT,
      }),
    );
    const loaded = newest.filter(isLoaded).filter((one) => origin === undefined || one.origin === origin);
    const byTree = new Map<string, LoadedDeposit>();
    for (const one of loaded.toSorted((a, b) => b.depositId - a.depositId))
      if (!byTree.has(one.directory)) byTree.set(one.directory, one);
    return [...byTree.values()].slice(0, limit);
  }

  /**
   * Resolves to `true` once the views have what has been loaded by now, on whichever node; to `false` when they had
   * it before.
   * @throws {EventLogUnavailable} that is not to be known now
   */
  async catchUp(): Promise<boolean> {
    const signal = clock.timeoutSignal(this.#patience);
    const latest = await this.#latestLoaded(this.#projector.position, signal).catch((cause: unknown) => {
      if (!signal.aborted) throw cause;
      throw unknown(cause);
    });
    if (latest === undefined) return false;
    if (!(await this.#projector.passed(latest, this.#patience))) throw unknown(undefined);
    return true;
  }

  async #latestLoaded(after: Position | undefined, signal: AbortSignal): Promise<Position | undefined> {
    let latest: Position | undefined;
    for await (const { type, position } of this.#log.readAll({
      after,
      streamPrefixes: [deposits.prefix],
      signal,
    })) {
      if (type === 'DepositLoaded') latest = position;
    }
    return latest;
  }
}

function isLoaded(found: LoadedObjects): found is LoadedDeposit {
  return found.directory !== null;
}

function unknown(cause: unknown): EventLogUnavailable {
  return new EventLogUnavailable('The event log did not tell in time what has been loaded.', { cause });
}

/** A snapshot and a revision are of one deposit, a directory may be of many. */
export function indexFor({ snapshot, revision, origin }: DepositConditions): readonly string[] {
  if (snapshot !== undefined) return objectIndexes.snapshot;
  if (revision !== undefined) return objectIndexes.revision;
  return origin === undefined ? objectIndexes.newestOfDirectory : objectIndexes.newestOfDirectoryAndOrigin;
}
