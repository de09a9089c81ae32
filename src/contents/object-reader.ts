import type { ArchiveLimits } from '../archives/inspection.ts';
import { tarEnd } from '../archives/tar/tar-writer.ts';
import { readDirectoryOf } from '../archives/tree/deposit-tree-search.ts';
import type { ArchiveWorkers } from '../archives/workers/archive-workers.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { depositRevision } from '../swhid/deposit-revision.ts';
import { directoryBodyOf } from '../swhid/directory.ts';
import { gitObjectId } from '../swhid/git-object.ts';
import { revisionBody } from '../swhid/revision.ts';
import { snapshotBody } from '../swhid/snapshot.ts';
import { codedError } from '../tools/coded-error.ts';
import { FairSemaphore } from '../tools/concurrency/fair-semaphore.ts';
import type { Place, ResolvedObject } from './resolver.ts';

type Content = Extract<Place, { type: 'cnt' }>;
type Directory = Extract<Place, { type: 'dir' }>;

export type ObjectReaderParts = {
  readonly store: ObjectStore;
  /** Reads members; it has a thread for each of {@link MAX_READS}. */
  readonly workers: Pick<ArchiveWorkers, 'read'>;
  readonly limits: Pick<ArchiveLimits, 'wallTime' | 'wallBytesPerMs'>;
};

/** Limits on concurrent reads: those that run, and those that wait. One client may have half of each. */
export const MAX_READS = 4;
const [MAX_WAITING, WAITING_TIMEOUT_MS] = [64, 15_000];

/** Minimum rate at which a client must read, so that others do not wait for it indefinitely. */
const MIN_RATE_BYTES_PER_S = 128 * 1024;

/** Restores the bytes of objects from what was deposited. Verifies them against the object's id. */
export class ObjectReader {
  readonly #store: ObjectStore;
  readonly #workers: ObjectReaderParts['workers'];
  readonly #limits: ObjectReaderParts['limits'];
  readonly #reads = new FairSemaphore({
    limit: MAX_READS,
    ownerLimit: MAX_READS / 2,
    waiting: MAX_WAITING,
    ownerWaiting: MAX_WAITING / 2,
    timeoutMs: WAITING_TIMEOUT_MS,
    refuse: () =>
      codedError('READERS_BUSY', `${MAX_READS} readings are under way, or ${MAX_READS / 2} of one client.`),
  });

  constructor({ store, workers, limits }: ObjectReaderParts) {
    this.#store = store;
    this.#workers = workers;
    this.#limits = limits;
  }

  /**
   * Returns the bytes that are hashed for the id of an object, without the header; not for contents.
   * @throws {Error} the bytes do not match the id
   */
  async body(object: ResolvedObject): Promise<Buffer> {
    const [type, body] = await this.#bodyOf(object);
    const { id } = object.swhid;
    if (gitObjectId(type, body) !== id) throw new Error(`The ${type} ${id} cannot be made again.`);
    return body;
  }

  /** Yields the bytes of a content. @throws READERS_BUSY */
  async *content({ swhid: { id }, deposit }: ResolvedObject, place: Content): AsyncGenerator<Uint8Array> {
    using _permit = await this.#reads.acquire(deposit.client);
    await using archive = await this.#store.materialize(place.archive);
    const { path, mode, sha256, length } = place;
    const member = { path, mode, id, sha256, length };
    const time = this.#timeFor(archive.length, place.length);
    yield* this.#workers.read({ kind: 'content', archive: archive.source, member }, time);
  }

  /** Yields a directory as a tar archive. @throws READERS_BUSY */
  async *tar({ loaded, deposit }: ResolvedObject, { path }: Directory): AsyncGenerator<Uint8Array> {
    using _permit = await this.#reads.acquire(deposit.client);
    await using manifest = await this.#store.materialize(loaded.manifest);
    let directories = true;
    for (const sha256 of new Set(loaded.archives)) {
      await using archive = await this.#store.materialize(sha256);
      const order = {
        kind: 'tree' as const,
        archive: archive.source,
        sha256,
        manifest: { source: manifest.source, sha256: loaded.manifest },
        path,
        directories,
      };
      yield* this.#workers.read(order, this.#timeFor(archive.length, loaded.bytes));
      directories = false;
    }
    yield tarEnd;
  }

  async #bodyOf({ place, loaded, deposit }: ResolvedObject) {
    switch (place.type) {
      case 'rev':
        return ['commit', revisionBody(depositRevision({ ...deposit, ...loaded }))] as const;
      case 'snp':
        return [
          'snapshot',
          snapshotBody([{ name: 'HEAD', targetType: 'revision', target: loaded.revision }]),
        ] as const;
      case 'dir': {
        const { body } = await this.#store.get(loaded.manifest);
        return ['tree', directoryBodyOf(await readDirectoryOf(body, place.path))] as const;
      }
      case 'cnt':
        throw new TypeError('The bytes of a content are streamed.');
    }
  }

  /**
   * Returns the time limit in milliseconds: the time for checking the archive, plus that for a slow client to read it.
   */
  #timeFor(packed: number, unpacked: number): number {
    const { wallTime, wallBytesPerMs } = this.#limits;
    return (
      wallTime + Math.ceil(packed / wallBytesPerMs) + Math.ceil(unpacked / (MIN_RATE_BYTES_PER_S / 1000))
    );
  }
}
