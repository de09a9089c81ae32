import { createHash, hash } from 'node:crypto';
import type { Incarnation } from '../world/host.ts';
import { world } from '../world/world.ts';

type Part = { readonly bytes: Buffer; readonly etag: string; readonly answeredAt: number };

/** An object that is being sent in parts. */
export type Upload = {
  readonly id: string;
  readonly key: string;
  /** The process that began it. */
  readonly process: Incarnation;
  readonly begunAt: number;
  readonly parts: Map<number, Part>;
};

/** A part as a request to complete an upload names it. */
type NamedPart = { readonly number: number; readonly etag: string };

/** Why a store refuses to complete an upload. */
type Refusal = { readonly code: 'InvalidPart' | 'InvalidPartOrder' | 'InvalidRequest' };

/** The extent of a loss. */
export type LostOfUpload = 'upload' | 'part';

/** The uploads in parts of a store that are neither completed nor aborted. */
export class MultipartUploads {
  readonly #uploads = new Map<string, Upload>();
  #begun = 0;

  get all(): readonly Upload[] {
    return [...this.#uploads.values()];
  }

  /** The uploads of processes that live: others are swept after a day. */
  get ofLiving(): readonly Upload[] {
    return this.all.filter(({ process }) => process.isAlive);
  }

  begin(key: string, process: Incarnation): Upload {
    this.#begun += 1;
    const id = `upload-${this.#begun}`;
    const upload = { id, key, process, begunAt: world().now, parts: new Map() };
    this.#uploads.set(id, upload);
    return upload;
  }

  /** Returns the upload with an id; `undefined` if none to this key has it. */
  find(id: string, key: string): Upload | undefined {
    const found = this.#uploads.get(id);
    return found?.key === key ? found : undefined;
  }

  /** Completed or aborted, an upload is unknown. */
  end({ id }: Upload): void {
    this.#uploads.delete(id);
  }

  store({ parts }: Upload, number: number, bytes: Buffer): Part {
    const part = { bytes, etag: hash('md5', bytes), answeredAt: world().now };
    parts.set(number, part);
    return part;
  }

  /** Loses an upload, or one of its parts. */
  lose(upload: Upload, what: LostOfUpload): void {
    const [first] = upload.parts.keys();
    if (what === 'upload') this.end(upload);
    else if (first !== undefined) upload.parts.delete(first);
    world().note(
      'store',
      `the store lost ${what === 'upload' ? 'the upload' : 'a part of the upload'} to ${upload.key}`,
    );
  }

  /** Loses what was stored since a time. */
  loseSince(time: number): void {
    for (const upload of this.all) {
      if (upload.begunAt >= time) this.lose(upload, 'upload');
      for (const [number, { answeredAt }] of upload.parts)
        if (answeredAt >= time) upload.parts.delete(number);
    }
  }
}

/** Returns the bytes and the ETag of the object that the named parts of an upload make. */
export function assembled(
  { parts }: Upload,
  named: readonly NamedPart[],
): { readonly bytes: Buffer; readonly etag: string } | Refusal {
  if (named.length === 0) return { code: 'InvalidRequest' };
  if (named.some(({ number }, index) => number <= (named[index - 1]?.number ?? 0)))
    return { code: 'InvalidPartOrder' };
  const found: Part[] = [];
  for (const { number, etag } of named) {
    const part = parts.get(number);
    if (part?.etag !== etag) return { code: 'InvalidPart' };
    found.push(part);
  }
  const digests = createHash('md5');
  for (const { etag } of found) digests.update(Buffer.from(etag, 'hex'));
  return {
    bytes: Buffer.concat(found.map(({ bytes }) => bytes)),
    etag: `${digests.digest('hex')}-${found.length}`,
  };
}

/** Returns the parts that the body of a request names, in its order. */
export function namedParts(body: Buffer): readonly NamedPart[] {
  const parts = body.toString().matchAll(/<Part>(.*?)<\/Part>/gs);
  return Array.from(parts, ([, part = '']) => ({
    number: Number(/<PartNumber>(\d+)<\/PartNumber>/.exec(part)?.[1]),
    etag: /<ETag>(?:"|&quot;)?([0-9a-f]+)/.exec(part)?.[1] ?? '',
  }));
}
