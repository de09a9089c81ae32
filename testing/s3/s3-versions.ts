import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { S3Body } from './s3-bodies.ts';

export type S3Object = {
  readonly body: S3Body;
  readonly etag: string;
  readonly modified: Date;
  readonly versionId?: string;
};
type Version = S3Object | { readonly body?: never; readonly versionId: string };

/** The older versions of a key; the newest one may be a delete marker. */
export class S3Versions {
  readonly #objects: Map<string, S3Object>;
  readonly #older = new Map<string, Version[]>();
  /** Whether each PUT and each removal makes a version. */
  enabled = false;

  /** `objects`: the present object of each key. */
  constructor(objects: Map<string, S3Object>) {
    this.#objects = objects;
  }

  put(key: string, object: S3Object): S3Object {
    const before = this.#objects.get(key);
    const stored = this.enabled ? { ...object, versionId: randomUUID() } : object;
    if (before && this.enabled) this.#olderOf(key).push(before);
    else if (before) discard(before.body);
    this.#objects.set(key, stored);
    return stored;
  }

  isDeleted(key: string): boolean {
    const newest = this.#older.get(key)?.at(-1);
    return !this.#objects.has(key) && newest !== undefined && newest.body === undefined;
  }

  /** @returns the id of the delete marker, where one is made */
  remove(key: string): string | undefined {
    const object = this.#objects.get(key);
    this.#objects.delete(key);
    if (!this.enabled) {
      if (object) discard(object.body); // a reader has the file open
      return undefined;
    }
    const versionId = randomUUID();
    this.#olderOf(key).push(...(object ? [object] : []), { versionId });
    return versionId;
  }

  find(key: string, versionId: string): S3Object | undefined {
    const all = [this.#objects.get(key), ...this.#olderOf(key)];
    const found = all.find((version) => version?.versionId === versionId);
    return found?.body === undefined ? undefined : found;
  }

  /** Removes exactly this version; the one below it is then the object of the key, unless it is a delete marker. */
  removeVersion(key: string, versionId: string): void {
    const object = this.#objects.get(key);
    const older = this.#olderOf(key);
    const at = older.findIndex((version) => version.versionId === versionId);
    const removed = object?.versionId === versionId ? object : older[at];
    if (removed === undefined) return;
    if (removed === object) this.#objects.delete(key);
    else older.splice(at, 1);
    if (removed.body) discard(removed.body);
    const below = older.at(-1);
    if (this.#objects.has(key) || below?.body === undefined) return;
    older.pop();
    this.#objects.set(key, below);
  }

  #olderOf(key: string): Version[] {
    const older = this.#older.get(key) ?? [];
    this.#older.set(key, older);
    return older;
  }
}

export function discard({ file }: S3Body): void {
  rm(file).catch(() => {}); // removed with the folder of the server
}
