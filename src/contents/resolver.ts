import type { EntryQuery, TreeEntry } from '../archives/tree/tree-entry.ts';
import { deposits } from '../domain/aggregates.ts';
import type { DepositEvent, DepositLoaded } from '../domain/deposit/events.ts';
import { type EventLog, occurredAt } from '../event-log/event-log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { LeafMode } from '../swhid/directory.ts';
import { pathInTree, type Swhid } from '../swhid/swhid.ts';
import { conditionsOf, isAnchored, mayBeAnywhere } from './deposit-filter.ts';
import type { LoadedDeposit, LoadedDeposits, Requester } from './loaded-deposits.ts';

/** The object that a SWHID names among the deposits of a client. */
export type ResolvedObject = {
  readonly swhid: Swhid;
  readonly place: Place;
  /** One of the deposits that contain it; all of them have the same object there. */
  readonly deposit: LoadedDeposit;
  readonly loaded: DepositLoaded['data'];
  /** RFC 3339, UTC. */
  readonly loadedAt: string;
};

export type Place =
  | { readonly type: 'rev' | 'snp' }
  /** Latin1 string of raw bytes; empty for the root. */
  | { readonly type: 'dir'; readonly path: string }
  | {
      readonly type: 'cnt';
      readonly path: string;
      readonly mode: LeafMode;
      readonly length: number;
      /** SHA-256 of its bytes. */
      readonly sha256: string;
      /** SHA-256 of the archive that contains it. */
      readonly archive: string;
    };

/** Deposits that contain an object, the newest first. */
export type DepositsWithObject = {
  readonly deposits: readonly LoadedDeposit[];
  /** The id below which all of them are; `undefined`: from the newest on. */
  readonly below: number | undefined;
  /** The id below which there are further deposits. */
  readonly next: number | null;
};

/** Maximum number of deposits in one answer. */
const PAGE_SIZE = 100;

/** Limits of a search without anchor: the number of newest trees, and the bytes of their manifests. */
export const SEARCHED_TREES = 100;
const SEARCHED_BYTES = 256 * 1024 ** 2;

/** Searches trees of deposits, which is expensive. */
export interface TreeSearch {
  /** Resolves to the permit of a client for its searches, one after the other. @throws READERS_BUSY */
  permit(client: string, signal?: AbortSignal): Promise<Disposable>;
  /** Resolves to the first entry that matches, of the manifest with this digest. To be called under a permit. */
  find(manifest: string, query: EntryQuery, signal?: AbortSignal): Promise<TreeEntry | undefined>;
}

type ResolverParts = {
  readonly deposits: LoadedDeposits;
  readonly log: EventLog;
  readonly store: Pick<ObjectStore, 'stat'>;
  readonly search: TreeSearch;
};

/** Finds what SWHIDs name among the deposits of a client that are done. */
export class Resolver {
  readonly #parts: ResolverParts;

  constructor(parts: ResolverParts) {
    this.#parts = parts;
  }

  /** The deposits in which it finds objects. */
  get deposits(): LoadedDeposits {
    return this.#parts.deposits;
  }

  /**
   * Returns the object of the first reading of the SWHID that names one. Includes every deposit that any node has
   * reported as done.
   * @throws {EventLogUnavailable} @throws READERS_BUSY @throws the reason of the signal
   */
  async resolve(
    requester: Requester,
    readings: readonly Swhid[],
    signal?: AbortSignal,
  ): Promise<ResolvedObject | undefined> {
    const known = await this.#resolveNow(requester, readings, signal);
    if (known || !(await this.#parts.deposits.catchUp())) return known;
    return this.#resolveNow(requester, readings, signal);
  }

  /** Returns the deposits that contain the object, according to the views of this node. */
  depositsWith(requester: Requester, { swhid, deposit }: ResolvedObject, below?: number): DepositsWithObject {
    const { directory, origin } = deposit;
    const ofTree = { directory, ...(swhid.qualifiers.origin !== undefined && { origin }) };
    const conditions = mayBeAnywhere(swhid) ? ofTree : (conditionsOf(swhid) ?? ofTree);
    const found = this.#parts.deposits.find(requester, conditions, PAGE_SIZE + 1, below);
    const page = found.slice(0, PAGE_SIZE);
    const next = found.length > PAGE_SIZE ? (page.at(-1)?.depositId ?? null) : null;
    return { deposits: page, below, next };
  }

  async #resolveNow(
    requester: Requester,
    readings: readonly Swhid[],
    signal: AbortSignal | undefined,
  ): Promise<ResolvedObject | undefined> {
    for (const swhid of readings) {
      const conditions = swhid.type === 'cnt' && mayBeAnywhere(swhid) ? undefined : conditionsOf(swhid);
      const [deposit] = conditions ? this.#parts.deposits.find(requester, conditions, 1) : [];
      const found = deposit && (await this.#inDeposit(swhid, deposit, signal));
      if (found) return found;
    }
    for (const swhid of readings.filter(mayBeAnywhere)) {
      const found = await this.#inNewest(requester, swhid, signal);
      if (found) return found;
    }
    return undefined;
  }

  /** Searches the newest trees, within limits that do not depend on the number of deposits. */
  async #inNewest(
    requester: Requester,
    swhid: Swhid,
    signal: AbortSignal | undefined,
  ): Promise<ResolvedObject | undefined> {
    const newest = this.#parts.deposits.newestOfTrees(requester, SEARCHED_TREES, swhid.qualifiers.origin);
    if (newest.length === 0) return undefined;
    using _permit = await this.#parts.search.permit(requester.client, signal);
    let bytes = 0;
    for (const deposit of newest) {
      const known = await this.#loadedEvent(deposit);
      if (!known) continue;
      bytes += (await this.#parts.store.stat(known.loaded.manifest))?.length ?? 0;
      if (bytes > SEARCHED_BYTES) return undefined;
      const place = await this.#placeInside(swhid, known.loaded, signal);
      if (place) return { swhid, place, deposit, ...known };
    }
    return undefined;
  }

  async #inDeposit(
    swhid: Swhid,
    deposit: LoadedDeposit,
    signal: AbortSignal | undefined,
  ): Promise<ResolvedObject | undefined> {
    const known = await this.#loadedEvent(deposit);
    const place = known && (await this.#placeOf(swhid, known.loaded, deposit.client, signal));
    return place && { swhid, place, deposit, ...known };
  }

  async #placeOf(
    swhid: Swhid,
    loaded: DepositLoaded['data'],
    client: string,
    signal: AbortSignal | undefined,
  ): Promise<Place | undefined> {
    const { type, id, qualifiers } = swhid;
    if (type === 'rev' || type === 'snp')
      return loaded[type === 'rev' ? 'revision' : 'snapshot'] === id ? { type } : undefined;
    const path = pathInTree(qualifiers);
    if (type === 'dir' && id === loaded.directory && (path ?? '') === '') return { type, path: '' };
    if (!isAnchored(swhid)) return undefined;
    using _permit = await this.#parts.search.permit(client, signal);
    return await this.#placeInside(swhid, loaded, signal);
  }

  async #placeInside(
    { type, id, qualifiers }: Swhid,
    loaded: DepositLoaded['data'],
    signal: AbortSignal | undefined,
  ): Promise<Place | undefined> {
    const path = pathInTree(qualifiers);
    if (path === '' || type === 'rel') return undefined;
    const kind = type === 'dir' ? 'directory' : 'leaf';
    const query = { kind, id, ...(path !== undefined && { path }) } as const;
    const entry = await this.#parts.search.find(loaded.manifest, query, signal);
    if (!entry) return undefined;
    return 'archive' in entry ? { type: 'cnt', ...entry } : { type: 'dir', path: entry.path };
  }

  /** Returns the last loaded event of the stream; only events about metadata follow it. */
  async #loadedEvent({ depositId }: LoadedDeposit) {
    const stream = `${deposits.prefix}${depositId}`;
    for await (const stored of this.#parts.log.readStream(stream, { backwards: true })) {
      if (stored.type !== 'DepositLoaded') continue;
      const { data } = deposits.codec.read(stored) as Extract<DepositEvent, DepositLoaded>; // by its type
      return { loaded: data, loadedAt: occurredAt(stored) };
    }
    return undefined;
  }
}
