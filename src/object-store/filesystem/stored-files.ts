import type { Dirent, Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { isSha256 } from '../../tools/cryptography/is-sha256.ts';
import { unlessMissing } from '../../tools/files/access.ts';
import { files } from '../../tools/files.ts';
import { objectPlace } from '../object-place.ts';
import { type ListedObject, ObjectMissing } from '../object-store.ts';
import { orUnavailable, orUnreadable } from '../store-errors.ts';
import { parseStoreId, STORE_ID } from '../store-id.ts';

const READ_BYTES = 128 * 1024;

/** Reads the large objects: files named `v1/sha256/ab/cd/<sha256>`. */
export class StoredFiles {
  readonly #folder: string;
  readonly root: string;
  /** Contains the id of the store. */
  readonly idFile: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.root = path.join(folder, 'v1', 'sha256');
    this.idFile = path.join(folder, STORE_ID);
  }

  /** Resolves to the id of the store; `undefined` without one. @throws {StoreDamaged} */
  async storeId(): Promise<string | undefined> {
    const reading = files.readFile(this.idFile, 'utf8').catch(unlessMissing(undefined));
    const text = await orUnavailable('read its id', reading);
    return text === undefined ? undefined : parseStoreId(text, this.idFile);
  }

  pathOf(sha256: string): string {
    return path.join(this.#folder, objectPlace(sha256));
  }

  async length(sha256: string): Promise<number | undefined> {
    const found = await orUnreadable(sha256, statIfThere(this.pathOf(sha256)));
    return found?.size;
  }

  /** Yields the bytes of the file from an offset on. Opens it at the first read, so that an unread body holds no file open. */
  async *bytes(sha256: string, from = 0): AsyncGenerator<Uint8Array> {
    await using handle = await orUnreadable(sha256, openIfThere(this.pathOf(sha256)));
    if (handle === undefined) throw new ObjectMissing(sha256);
    for (let position = from; ; ) {
      const { bytesRead, buffer } = await orUnreadable(
        sha256,
        handle.read(Buffer.allocUnsafeSlow(READ_BYTES), 0, READ_BYTES, position),
      );
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  async *list(): AsyncGenerator<ListedObject> {
    for await (const { place, isObject } of this.#entries()) {
      if (!isObject) continue;
      const found = await orUnavailable('read', statIfThere(place));
      if (!found) continue; // removed meanwhile
      yield { sha256: path.basename(place), length: found.size, storedAt: found.mtime };
    }
  }

  /** Yields paths that are neither objects in the folder of their name nor such folders; they are never read. */
  async *misplaced(): AsyncGenerator<string> {
    for await (const { place, isObject } of this.#entries()) if (!isObject) yield place;
  }

  async *#entries(): AsyncGenerator<Entry> {
    for await (const first of entriesOf(this.root)) {
      if (isFolder(first)) yield* this.#entriesBelow(pathOf(first));
      else yield { place: pathOf(first), isObject: false };
    }
  }

  async *#entriesBelow(folder: string): AsyncGenerator<Entry> {
    for await (const second of entriesOf(folder)) {
      const place = pathOf(second);
      if (!isFolder(second)) yield { place, isObject: false };
      else
        for await (const file of entriesOf(place))
          yield { place: pathOf(file), isObject: this.#isObject(file) };
    }
  }

  #isObject(file: Dirent): boolean {
    return isSha256(file.name) && this.pathOf(file.name) === pathOf(file);
  }
}

type Entry = { readonly place: string; readonly isObject: boolean };

function pathOf({ parentPath, name }: Dirent): string {
  return path.join(parentPath, name);
}

/**
 * Whether the entry is a folder of objects. An operator may have moved it to another disk, with a link in its place.
 */
function isFolder(found: Dirent): boolean {
  return /^[0-9a-f]{2}$/.test(found.name) && (found.isDirectory() || found.isSymbolicLink());
}

async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  yield* await orUnavailable('read', files.opendir(folder));
}

async function openIfThere(file: string): Promise<FileHandle | undefined> {
  return await files.open(file, 'r').catch(unlessMissing(undefined, 'ENOTDIR'));
}

/** Resolves to the file's metadata if it is a regular file: opening a pipe could block forever. */
async function statIfThere(file: string): Promise<Stats | undefined> {
  const found = await files.stat(file).catch(unlessMissing(undefined, 'ENOTDIR'));
  return found?.isFile() ? found : undefined;
}
