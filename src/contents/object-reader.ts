import { addAbortSignal, type Readable } from 'node:stream';
import type { ArchiveLimits } from '../archives/archive-reader.ts';
import { tarEnd } from '../archives/tar/tar-block.ts';
import type { EntryQuery, TreeEntry } from '../archives/tree/tree-entry.ts';
import type { ArchiveWorkers } from '../archives/workers/archive-workers.ts';
import { ObjectMissing, type ObjectStore } from '../object-store/object-store.ts';
import { depositRevision } from '../swhid/deposit-revision.ts';
import { gitObjectId } from '../swhid/git-object.ts';
import { revisionBody } from '../swhid/revision.ts';
import { snapshotBody } from '../swhid/snapshot.ts';
import { codedError } from '../tools/coded-error.ts';
import { FairSemaphore } from '../tools/concurrency/fair-semaphore.ts';
import type { Place, ResolvedObject, TreeSearch } from './resolver.ts';

type Content = Extract<Place, { type: 'cnt' }>;
type DirectoryPlace = Extract<Place, { type: 'dir' }>;

type ObjectReaderParts = {
  readonly store: ObjectStore;
  /** Reads archives and manifests; it has a thread for each of {@link MAX_READS}. */
  readonly workers: Pick<ArchiveWorkers, 'read' | 'find'>;
  readonly limits: Pick<ArchiveLimits, 'wallTime' | 'wallBytesPerMs'>;
};

/** Limits on concurrent reads: those that run, and those that wait. One client may have half of each. */
export const MAX_READS = 4;
const [MAX_WAITING, WAITING_TIMEOUT_MS] = [64, 15_000];

/** Minimum rate at which a client must read, so that others do not wait for it indefinitely. */
const MIN_RATE_BYTES_PER_S = 128 * 1024;

/**
 * Restores the bytes of objects from what was deposited. Verifies them against the object's id. What may be large is
 * read in worker threads, under a permit of the client, and ends with the signal.
 */
export class ObjectReader implements TreeSearch {
  readonly #parts: ObjectReaderParts;
  readonly #permits = new FairSemaphore({
    limit: MAX_READS,
    ownerLimit: MAX_READS / 2,
    waiting: MAX_WAITING,
    ownerWaiting: MAX_WAITING / 2,
    timeoutMs: WAITING_TIMEOUT_MS,
    refuse: () => codedError('READERS_BUSY', BUSY),
  });

  constructor(parts: ObjectReaderParts) {
    this.#parts = parts;
  }

  permit(client: string, signal?: AbortSignal): Promise<Disposable> {
    return this.#permits.acquire(client, signal);
  }

  /** Returns whether a read waits that could begin if this client's read ended. */
  isWanted(client: string): boolean {
    return this.#permits.isWanted(client);
  }

  async find(manifest: string, query: EntryQuery, signal?: AbortSignal): Promise<TreeEntry | undefined> {
    await using object = await this.#parts.store.materialize(manifest);
    const { source, length } = object;
    const order = { kind: 'find', manifest: { source, sha256: manifest }, query } as const;
    return await this.#parts.workers.find(order, this.#timeFor(length, 0), signal);
  }

  /**
   * Returns the bytes that are hashed for the id of a revision or snapshot, without the header.
   * @throws {Error} the bytes do not match the id
   */
  small({ swhid: { id }, place, loaded, deposit }: ResolvedObject): Buffer {
    const isRevision = place.type === 'rev';
    const body = isRevision
      ? revisionBody(depositRevision({ ...deposit, ...loaded }))
      : snapshotBody([{ name: 'HEAD', targetType: 'revision', target: loaded.revision }]);
    const type = isRevision ? 'commit' : 'snapshot';
    if (gitObjectId(type, body) !== id) throw new Error(`The ${type} ${id} cannot be made again.`);
    return body;
  }

  /** Yields the bytes of a content. @throws READERS_BUSY */
  async *content(
    { swhid: { id }, deposit }: ResolvedObject,
    place: Content,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    using _permit = await this.permit(deposit.client, signal);
    await using archive = await this.#parts.store.materialize(place.archive);
    const { path, mode, sha256, length } = place;
    const order = {
      kind: 'content',
      archive: archive.source,
      member: { path, mode, id, sha256, length },
    } as const;
    yield* this.#read(this.#parts.workers.read(order, this.#timeFor(archive.length, length)), signal);
  }

  /**
   * Yields the bytes that are hashed for the id of a directory, without the header; reports their length before.
   * @throws READERS_BUSY
   */
  async *directory(
    { swhid: { id }, loaded, deposit }: ResolvedObject,
    { path }: DirectoryPlace,
    signal: AbortSignal,
    onLength: (bytes: number) => void,
  ): AsyncGenerator<Uint8Array> {
    using _permit = await this.permit(deposit.client, signal);
    await using manifest = await this.#parts.store.materialize(loaded.manifest);
    const { source, length } = manifest;
    const order = { kind: 'directory', manifest: { source, sha256: loaded.manifest }, path, id } as const;
    yield* this.#read(this.#parts.workers.read(order, this.#timeFor(length, length), onLength), signal);
  }

  /** Yields a directory as a tar archive. @throws READERS_BUSY */
  async *tar(
    { loaded, deposit }: ResolvedObject,
    { path }: DirectoryPlace,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    using _permit = await this.permit(deposit.client, signal);
    await using manifest = await this.#parts.store.materialize(loaded.manifest);
    let directories = true;
    for (const sha256 of new Set(loaded.archives)) {
      await using archive = await this.#parts.store.materialize(sha256);
      const order = {
        kind: 'tree' as const,
        archive: archive.source,
        sha256,
        manifest: { source: manifest.source, sha256: loaded.manifest },
        path,
        directories,
      };
      yield* this.#read(this.#parts.workers.read(order, this.#timeFor(archive.length, loaded.bytes)), signal);
      directories = false;
    }
    yield tarEnd;
  }

  /** Asserts, for an answer without the bytes, that the store has what they are read from. @throws {ObjectMissing} */
  async assertStored({ loaded }: ResolvedObject, place: Content | DirectoryPlace): Promise<void> {
    for (const sha256 of place.type === 'cnt' ? [place.archive] : [loaded.manifest, ...loaded.archives])
      if (!(await this.#parts.store.stat(sha256))) throw new ObjectMissing(sha256);
  }

  /** Yields the chunks until the signal aborts, which destroys the stream and so aborts the read. */
  async *#read(chunks: Readable, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield* addAbortSignal(signal, chunks);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  }

  /**
   * Returns the time limit in milliseconds: the time for checking the archive, plus that for a slow client to read it.
   */
  #timeFor(packed: number, unpacked: number): number {
    const { wallTime, wallBytesPerMs } = this.#parts.limits;
    return (
      wallTime + Math.ceil(packed / wallBytesPerMs) + Math.ceil(unpacked / (MIN_RATE_BYTES_PER_S / 1000))
    );
  }
}

const BUSY = 'Too many contents and directories are being read at the moment: try again later.';
