import { createHash, randomBytes } from 'node:crypto';
import { joinBodies, type S3Body } from './s3-bodies.ts';
import { S3Refusal } from './s3-refusal.ts';
import { discard, type S3Object, S3Versions } from './s3-versions.ts';

type Upload = { readonly key: string; readonly begun: Date; readonly parts: Map<number, S3Body> };
type NamedPart = { readonly number: number; readonly etag: string };

const LEAST_PART_BYTES = 5 * 1024 * 1024;

/** Objects and uploads of one bucket, with the semantics of S3: an object is replaced in one step. */
export class S3Bucket {
  readonly objects = new Map<string, S3Object>();
  readonly versions = new S3Versions(this.objects);
  readonly uploads = new Map<string, Upload>();
  /** Keys whose object has a flipped bit on its drive; a new PUT repairs it. */
  readonly flipped = new Set<string>();
  /** Keys that are listed but not found, as if one drive was absent at the PUT and another one is now. */
  readonly unfound = new Set<string>();
  /** Keys that lists leave out, as if most drives are absent. */
  readonly unlisted = new Set<string>();
  /** Objects that power cuts have lost. */
  readonly lost = new Map<string, S3Object>();
  /** Number of the next lists of uploads that are empty, as if one of four drives answers that has none. */
  emptyUploadLists = 0;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  put(key: string, body: S3Body, etag = body.md5): S3Object {
    for (const faulty of [this.flipped, this.unfound]) faulty.delete(key);
    return this.versions.put(key, { body, etag, modified: new Date() });
  }

  get(key: string): S3Object {
    const object = this.unfound.has(key) ? undefined : this.objects.get(key);
    if (object !== undefined) return object;
    const marked = this.versions.isDeleted(key) ? { 'x-amz-delete-marker': 'true' } : {};
    throw new S3Refusal(404, 'NoSuchKey', marked);
  }

  /** Copies an object to one object, whatever parts the first was made of. */
  async copy(from: S3Object, key: string): Promise<S3Object> {
    return this.put(key, await joinBodies([from.body], this.#folder));
  }

  remove(key: string): void {
    this.versions.remove(key);
  }

  /** Loses an object like a power cut if names are not synced: by default the one that was stored last. */
  cutPower(key = this.#newest()): string | undefined {
    const object = key === undefined ? undefined : this.objects.get(key);
    if (key === undefined || object === undefined) return undefined;
    this.lost.set(key, object);
    this.objects.delete(key);
    return key;
  }

  /** Restores an object that a power cut has lost, as an operator does from a backup. */
  bringBack(key: string): void {
    const object = this.lost.get(key);
    if (object !== undefined && !this.objects.has(key)) this.objects.set(key, object);
  }

  beginUpload(key: string): string {
    const id = randomBytes(93).toString('base64url');
    this.uploads.set(id, { key, begun: new Date(), parts: new Map() });
    return id;
  }

  putPart(key: string, id: string, number: number, body: S3Body): void {
    const { parts } = this.#upload(key, id);
    const before = parts.get(number);
    if (before) discard(before);
    parts.set(number, body);
  }

  assertUpload(key: string, id: string): void {
    this.#upload(key, id);
  }

  async complete(key: string, id: string, named: readonly NamedPart[]): Promise<S3Object> {
    const { parts } = this.#upload(key, id);
    if (named.length === 0) throw new S3Refusal(400, 'InvalidRequest');
    if (named.some(({ number }, index) => number <= (named[index - 1]?.number ?? 0)))
      throw new S3Refusal(400, 'InvalidPartOrder');
    const bodies = named.map(({ number, etag }, index) => {
      const body = parts.get(number);
      if (body === undefined || body.md5 !== etag) throw new S3Refusal(400, 'InvalidPart');
      const isLast = index === named.length - 1;
      if (!isLast && body.length < LEAST_PART_BYTES) throw new S3Refusal(400, 'EntityTooSmall');
      return body;
    });
    const digests = Buffer.concat(bodies.map(({ md5 }) => Buffer.from(md5, 'hex')));
    const etag = `${createHash('md5').update(digests).digest('hex')}-${bodies.length}`;
    const object = this.put(key, await joinBodies(bodies, this.#folder), etag);
    this.abort(key, id);
    return object;
  }

  abort(key: string, id: string): void {
    for (const part of this.#upload(key, id).parts.values()) discard(part);
    this.uploads.delete(id);
  }

  /** Returns the key that was stored last, of those that are not removed again soon. */
  #newest(): string | undefined {
    let newest: readonly [key: string, modified: Date] | undefined;
    for (const [key, { modified }] of this.objects) {
      if (key.includes('incoming/') || (newest && modified < newest[1])) continue;
      newest = [key, modified];
    }
    return newest?.[0];
  }

  #upload(key: string, id: string): Upload {
    const upload = this.uploads.get(id);
    if (upload?.key !== key) throw new S3Refusal(404, 'NoSuchUpload');
    return upload;
  }
}
