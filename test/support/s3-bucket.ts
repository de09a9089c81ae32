import { createHash, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { joinBodies, type S3Body } from './s3-bodies.ts';
import { S3Refusal } from './s3-refusal.ts';

export type S3Object = { readonly body: S3Body; readonly etag: string; readonly modified: Date };
type Upload = { readonly key: string; readonly begun: Date; readonly parts: Map<number, S3Body> };
type NamedPart = { readonly number: number; readonly etag: string };

const LEAST_PART_BYTES = 5 * 1024 * 1024;

/** Objects and uploads of one bucket, as S3 has them: an object is replaced in one step. */
export class S3Bucket {
  readonly objects = new Map<string, S3Object>();
  readonly uploads = new Map<string, Upload>();
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  put(key: string, body: S3Body, etag = body.md5): S3Object {
    const object = { body, etag, modified: new Date() };
    this.remove(key);
    this.objects.set(key, object);
    return object;
  }

  get(key: string): S3Object {
    const object = this.objects.get(key);
    if (object === undefined) throw new S3Refusal(404, 'NoSuchKey');
    return object;
  }

  /** A copy is one object, whatever parts the first was made of. */
  async copy(from: S3Object, key: string): Promise<S3Object> {
    return this.put(key, await joinBodies([from.body], this.#folder));
  }

  remove(key: string): void {
    const object = this.objects.get(key);
    if (object === undefined) return;
    this.objects.delete(key);
    discard(object.body); // whoever reads it has the file open
  }

  beginUpload(key: string): string {
    const id = `upload-${randomUUID()}`;
    this.uploads.set(id, { key, begun: new Date(), parts: new Map() });
    return id;
  }

  putPart(key: string, id: string, number: number, body: S3Body): void {
    const { parts } = this.#upload(key, id);
    const before = parts.get(number);
    if (before) discard(before);
    parts.set(number, body);
  }

  async complete(key: string, id: string, named: readonly NamedPart[]): Promise<S3Object> {
    const { parts } = this.#upload(key, id);
    const bodies = named.map(({ number, etag }, index) => {
      const body = parts.get(number);
      if (body === undefined || body.md5 !== etag) throw new S3Refusal(400, 'InvalidPart');
      if (number <= (named[index - 1]?.number ?? 0)) throw new S3Refusal(400, 'InvalidPartOrder');
      const isLast = index === named.length - 1;
      if (!isLast && body.length < LEAST_PART_BYTES) throw new S3Refusal(400, 'EntityTooSmall');
      return body;
    });
    if (bodies.length === 0) throw new S3Refusal(400, 'MalformedXML');
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

  #upload(key: string, id: string): Upload {
    const upload = this.uploads.get(id);
    if (upload?.key !== key) throw new S3Refusal(404, 'NoSuchUpload');
    return upload;
  }
}

function discard({ file }: S3Body): void {
  rm(file).catch(() => {}); // gone with the folder of the server
}
