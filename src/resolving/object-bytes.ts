import type { ArchiveStore } from '../archive-store/archive-store.ts';
import type { ArchiveLimits } from '../archives/inspection.ts';
import { readDirectoryOf } from '../archives/manifest-search.ts';
import { tarEnd } from '../archives/tar/tar-writer.ts';
import type { MemberReaders } from '../archives/threads/member-readers.ts';
import { depositRevision } from '../swhid/deposit-revision.ts';
import { directoryBodyOf } from '../swhid/directory.ts';
import { gitObjectId } from '../swhid/git-object.ts';
import { revisionBody } from '../swhid/revision.ts';
import { snapshotBody } from '../swhid/snapshot.ts';
import type { Place, ResolvedObject } from './resolver.ts';

type Content = Extract<Place, { type: 'cnt' }>;
type Directory = Extract<Place, { type: 'dir' }>;

export type ObjectBytesParts = {
  readonly store: ArchiveStore;
  readonly readers: MemberReaders;
  readonly limits: Pick<ArchiveLimits, 'wallTime' | 'wallBytesPerMs'>;
};

/** What a reader has to take in a second, in bytes, lest others wait for it for ever. */
const SLOWEST = 128 * 1024;

/** Gives the bytes of objects again from what was deposited; none is given that is not what its id says. */
export class ObjectBytes {
  readonly #store: ArchiveStore;
  readonly #readers: MemberReaders;
  readonly #limits: ObjectBytesParts['limits'];

  constructor({ store, readers, limits }: ObjectBytesParts) {
    this.#store = store;
    this.#readers = readers;
    this.#limits = limits;
  }

  /**
   * What is hashed for the id of an object that is no content, without its header.
   * @throws {Error} it does not give the id
   */
  async body(object: ResolvedObject): Promise<Buffer> {
    const [type, body] = await this.#bodyOf(object);
    const { id } = object.swhid;
    if (gitObjectId(type, body) !== id) throw new Error(`The ${type} ${id} cannot be made again.`);
    return body;
  }

  /** The bytes of a content. @throws {ReadersBusy} */
  async *content({ swhid: { id }, deposit }: ResolvedObject, place: Content): AsyncGenerator<Uint8Array> {
    using _turn = await this.#readers.enter(deposit.client);
    await using archive = await this.#store.checkOut(place.archive);
    const { path, mode, sha256, length } = place;
    const member = { path, mode, id, sha256, length };
    const time = this.#timeFor(archive.length, place.length);
    yield* this.#readers.read({ kind: 'content', archive: archive.source, member }, time);
  }

  /** A directory as a tar that unpacks to it. @throws {ReadersBusy} */
  async *tar({ loaded, deposit }: ResolvedObject, { path }: Directory): AsyncGenerator<Uint8Array> {
    using _turn = await this.#readers.enter(deposit.client);
    await using manifest = await this.#store.checkOut(loaded.manifest);
    let directories = true;
    for (const sha256 of new Set(loaded.archives)) {
      await using archive = await this.#store.checkOut(sha256);
      const order = {
        kind: 'tree' as const,
        archive: archive.source,
        sha256,
        manifest: { source: manifest.source, sha256: loaded.manifest },
        path,
        directories,
      };
      yield* this.#readers.read(order, this.#timeFor(archive.length, loaded.bytes));
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

  /** As long as a check of the archive may take, and as its reader may need. */
  #timeFor(packed: number, unpacked: number): number {
    const { wallTime, wallBytesPerMs } = this.#limits;
    return wallTime + Math.ceil(packed / wallBytesPerMs) + Math.ceil(unpacked / (SLOWEST / 1000));
  }
}
