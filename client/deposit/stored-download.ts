import { createHash, type Hash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs';
import path from 'node:path';
import { createDirectory } from '../../src/tools/files/make-directory.ts';
import type { AnnouncedDigest } from '../documents/digests.ts';
import { readEnvironment } from '../environment.ts';
import {
  ignoreErrors,
  isInUse,
  nameFor,
  openStateFolder,
  removeFile,
  replaceFile,
  THIS_PROCESS,
} from '../state-files.ts';

/** Maximum age of a part of an archive, in milliseconds. */
const MAX_AGE_MS = 7 * 24 * 3600_000;

/** Facts that the server announces before the bytes. */
export type Announced = {
  /** Strong validator, with which the rest can be requested. */
  readonly etag: string | null;
  readonly total: number | null;
  readonly digests: readonly AnnouncedDigest[];
  /** The server's name for the archive, without folders. */
  readonly filename: string;
  readonly mediaType: string | null;
};

/** The bytes received so far. */
export type Part = Announced & { length: number; readonly hashes: ReadonlyMap<string, Hash> };

/**
 * An archive on its way, in a folder of the cache, so that a later command continues a download that was interrupted. The
 * folder is named by what is downloaded and by the process that does it.
 */
export class StoredDownload {
  readonly #folder: string;
  readonly #isInCache: boolean;

  /** Takes over what an earlier process has left. Without a cache, the folder is the one for temporary files. */
  constructor(iri: string, user: string, temporary: () => string) {
    const key = nameFor([iri, user]);
    const own = ignoreErrors(() => ownFolder(key));
    this.#isInCache = own !== undefined;
    this.#folder = own ?? temporary();
  }

  /** Whether a later command can continue what is stored, if this one is interrupted. */
  get isContinuable(): boolean {
    return this.#isInCache && existsSync(this.#head);
  }

  get file(): string {
    return path.join(this.#folder, 'archive');
  }

  get #head(): string {
    return path.join(this.#folder, 'announced.json');
  }

  /**
   * Resolves to the part of an earlier command, if there is one. The last byte of the archive is left out, so that the
   * server is asked whether it still has the same one.
   */
  async find(onRead: (bytes: number, total: number) => void): Promise<Part | undefined> {
    try {
      const part = beginPart(JSON.parse(readFileSync(this.#head, 'utf8')) as Announced); // as stored below
      const total = Math.max(Math.min(statSync(this.file).size, part.total ?? Infinity) - 1, 0);
      truncateSync(this.file, total);
      for await (const piece of createReadStream(this.file) as AsyncIterable<Buffer>) {
        add(part, piece);
        onRead(part.length, total);
      }
      return part;
    } catch {
      return undefined;
    }
  }

  /** Begins the archive at its first byte. A later command continues only what a digest verifies in the end. */
  begin(announced: Announced): Part {
    this.remove();
    ignoreErrors(() => createDirectory(this.#folder));
    if (announced.etag !== null && announced.digests.length > 0)
      ignoreErrors(() => replaceFile(this.#head, JSON.stringify(announced)));
    return beginPart(announced);
  }

  /** Whether the file has the bytes of the part only: an earlier process, stopped for a while, could go on writing to it. */
  containsOnly({ length }: Part): boolean {
    return ignoreErrors(() => statSync(this.file).size) === length;
  }

  remove(): void {
    removeFile(this.#head);
    removeFile(this.#folder);
  }
}

/** Counts and hashes further bytes of a part. */
export function add(part: Part, piece: Buffer): void {
  for (const hash of part.hashes.values()) hash.update(piece);
  part.length += piece.length;
}

function beginPart(announced: Announced): Part {
  const algorithms = new Set([...announced.digests.map(({ algorithm }) => algorithm), 'sha256']);
  return {
    ...announced,
    length: 0,
    hashes: new Map([...algorithms].map((name) => [name, createHash(name)])),
  };
}

/** Returns a folder of this process, with what another process, which has ended, has left. */
function ownFolder(key: string): string {
  const folder = path.join(readEnvironment().cacheFolder, 'downloads');
  openStateFolder(folder, MAX_AGE_MS);
  const own = path.join(folder, `${key} ${THIS_PROCESS}`);
  for (const name of readdirSync(folder)) {
    const [found, ...owner] = name.split(' ');
    const left = path.join(folder, name);
    if (found !== key || left === own) continue;
    if (isInUse(path.join(left, 'archive'), owner.join(' '))) continue;
    // It fails if another process was faster.
    if (ignoreErrors(() => renameSync(left, own) ?? true)) break;
  }
  createDirectory(own);
  return own;
}
