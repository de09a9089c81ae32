import { hash } from 'node:crypto';
import type { CallName } from '../world/world.ts';
import { world } from '../world/world.ts';
import {
  assembled,
  type LostOfUpload,
  MultipartUploads,
  namedParts,
  type Upload,
} from './multipart-uploads.ts';
import type { NetworkAnswer, NetworkOutcome, NetworkRequest, NetworkServer } from './network-server.ts';
import {
  begunDocument,
  completedDocument,
  contentsOf,
  copiedDocument,
  errorDocument,
  listDocument,
  uploadsDocument,
} from './s3-documents.ts';

export type S3Object = {
  readonly version: string;
  readonly bytes: Buffer;
  readonly etag: string;
  /** Wall clock of the server. */
  readonly modified: Date;
  /** Virtual time at which the put was answered. */
  readonly answeredAt: number;
};

export type Outage = 'refused' | 'busy' | 'silent';

/** The name of the one bucket that there is. */
export const BUCKET = 'deposits';

const CALLS: Readonly<Record<string, CallName>> = { PUT: 'put', GET: 'get' };
const CALLS_OF_UPLOADS: Readonly<Record<string, CallName>> = { PUT: 'part', POST: 'complete' };

/** A server of MinIO with one bucket, which has versions, by the rules of real servers; see docs/simulation.md. */
export class S3Server implements NetworkServer {
  /** The current versions. */
  readonly objects = new Map<string, S3Object>();
  /** All versions by key, the oldest first. */
  readonly #versions = new Map<string, S3Object[]>();
  #versionNumbers = 0;
  /** How it fails at the moment. */
  readonly outages = new Set<Outage>();
  /** Shares of the keys that are answered 404 at the moment, although they are listed: drives are away. */
  readonly hidden = new Set<number>();
  /** Shares of the keys that lists leave out at the moment, with status 200. */
  readonly unlisted = new Set<number>();
  readonly uploads = new MultipartUploads();
  /** Losses of uploads at the moment: each comes before this share of the requests for one. */
  readonly uploadLosses = new Set<{ readonly what: LostOfUpload; readonly share: number }>();
  /** Keys of objects whose bytes have another digest than their key names. */
  readonly altered = new Set<string>();
  /** Keys of objects that were gone for some time: a power cut lost them although their put was answered. */
  readonly lost = new Set<string>();
  /** Bytes that power cuts have lost and that were not stored again. An older version may be left, which `gc` may remove. */
  readonly #unrestored = new Map<string, Buffer>();

  /** Lists are not counted, nor is HEAD: after a verified put none is needed. */
  callOf({ method, path }: Pick<NetworkRequest, 'method' | 'path'>): CallName | undefined {
    if (path.includes('uploadId=')) return CALLS_OF_UPLOADS[method];
    return path.includes('?') ? undefined : CALLS[method];
  }

  /** Loses what was stored in the last milliseconds: the rename of an object is not synced before the answer. */
  cutPower(unsyncedFor: number): void {
    const isLost = ({ answeredAt }: S3Object): boolean => answeredAt >= world().now - unsyncedFor;
    this.uploads.loseSince(world().now - unsyncedFor);
    for (const [key, versions] of this.#versions) {
      const newest = versions.findLast(isLost);
      if (!newest) continue;
      this.#unrestored.set(key, newest.bytes);
      this.#keep(key, (version) => !isLost(version));
      world().note('store', `the power cut lost what was last stored as ${key}`);
    }
  }

  /** Stores again what power cuts have lost, as an operator does from a copy. */
  restoreLost(): void {
    for (const [key, bytes] of this.#unrestored) {
      this.put(key, bytes);
      world().note('store', `the operator restored ${key}`);
    }
  }

  put(key: string, bytes: Buffer, modified = new Date(), etag = hash('md5', bytes)): S3Object {
    this.#versionNumbers += 1;
    const version = `version-${this.#versionNumbers}`;
    const object = { version, bytes, etag, modified, answeredAt: world().now };
    this.#versions.getOrInsertComputed(key, () => []).push(object);
    this.objects.set(key, object);
    this.#unrestored.delete(key);
    return object;
  }

  handle(request: NetworkRequest): NetworkOutcome {
    const [outage] = this.outages;
    if (outage === 'refused') return { kind: 'error', code: 'ECONNREFUSED' };
    if (outage === 'silent') return { kind: 'silence' };
    if (outage === 'busy') return answered(503, errorDocument('SlowDownRead'), { 'retry-after': '60' });
    const { pathname, searchParams } = new URL(request.path, 'http://s3');
    const [, bucket, ...rest] = decodeURIComponent(pathname).split('/');
    const key = rest.join('/');
    world().note('call', `${request.process.name} ${request.method} ${key}`);
    if (bucket !== BUCKET) return answered(404, errorDocument('NoSuchBucket'));
    if (key === '')
      return searchParams.has('uploads') ? this.#listUploads(searchParams) : this.#list(searchParams);
    if (request.method === 'POST' && searchParams.has('uploads')) return this.#begin(key, request);
    const uploadId = searchParams.get('uploadId');
    if (uploadId !== null) return this.#ofUpload(key, uploadId, searchParams, request);
    const source = request.headers['x-amz-copy-source'];
    if (source !== undefined) return this.#copy(decodeURIComponent(source), key, request);
    if (request.method === 'PUT') return this.#put(key, request);
    if (request.method === 'DELETE') return this.#delete(key, searchParams.get('versionId'), request);
    return this.#get(key, request.method === 'HEAD');
  }

  #put(key: string, request: NetworkRequest): NetworkOutcome {
    const refusal = refusalOfDigests(request);
    if (refusal !== undefined) return answered(400, errorDocument(refusal));
    const { etag, version } = this.#stored(key, request.body, request);
    return answered(200, '', { etag: `"${etag}"`, 'x-amz-version-id': version });
  }

  #stored(key: string, bytes: Buffer, { process }: NetworkRequest, etag?: string): S3Object {
    const [digest] = /[0-9a-f]{64}$/.exec(key) ?? [];
    if (digest !== undefined && hash('sha256', bytes) !== digest) this.altered.add(key);
    else this.altered.delete(key);
    world().note('store', `${process.name} stored ${key}`);
    return this.put(key, bytes, undefined, etag);
  }

  #begin(key: string, { process }: NetworkRequest): NetworkOutcome {
    const { id } = this.uploads.begin(key, process);
    return answered(200, begunDocument(BUCKET, key, id));
  }

  /** Handles a request for a part, or for the end of an upload. */
  #ofUpload(key: string, id: string, query: URLSearchParams, request: NetworkRequest): NetworkOutcome {
    const lost = [...this.uploadLosses].find(({ share }) => world().networkRandom.chance(share));
    const begun = this.uploads.find(id, key);
    if (begun && lost && request.method !== 'DELETE') this.uploads.lose(begun, lost.what);
    const upload = this.uploads.find(id, key);
    if (request.method === 'DELETE') {
      if (upload) this.uploads.end(upload);
      return answered(204, '');
    }
    if (!upload) return answered(404, errorDocument('NoSuchUpload'));
    if (request.method === 'POST') return this.#complete(upload, request);
    const refusal = refusalOfDigests(request);
    if (refusal !== undefined) return answered(400, errorDocument(refusal));
    const { etag } = this.uploads.store(upload, Number(query.get('partNumber')), request.body);
    return answered(200, '', { etag: `"${etag}"` });
  }

  #complete(upload: Upload, request: NetworkRequest): NetworkOutcome {
    const made = assembled(upload, namedParts(request.body));
    if ('code' in made) return answered(400, errorDocument(made.code));
    this.uploads.end(upload);
    const { etag, version } = this.#stored(upload.key, made.bytes, request, made.etag);
    return answered(200, completedDocument(BUCKET, upload.key, etag), { 'x-amz-version-id': version });
  }

  #copy(source: string, key: string, request: NetworkRequest): NetworkOutcome {
    const from = source.replace(`/${BUCKET}/`, '').replace(`${BUCKET}/`, '');
    const object = this.objects.get(from);
    if (!object || isInShare(from, this.hidden)) return answered(404, errorDocument('NoSuchKey'));
    return answered(200, copiedDocument(this.#stored(key, object.bytes, request)));
  }

  /** By their whole key alone. */
  #listUploads(query: URLSearchParams): NetworkOutcome {
    return answered(200, uploadsDocument(this.uploads.all.filter(({ key }) => key === query.get('prefix'))));
  }

  /** Without a version the key is gone, whatever it had. */
  #delete(key: string, version: string | null, { process }: NetworkRequest): NetworkOutcome {
    world().note('store', `${process.name} removed ${version ?? 'all versions'} of ${key}`);
    this.#keep(key, (kept) => version !== null && kept.version !== version);
    return answered(204, '');
  }

  #keep(key: string, isKept: (version: S3Object) => boolean): void {
    const versions = (this.#versions.get(key) ?? []).filter(isKept);
    const current = versions.at(-1);
    this.#versions.set(key, versions);
    if (current) {
      this.objects.set(key, current);
      return;
    }
    this.objects.delete(key);
    if (this.#unrestored.has(key)) this.lost.add(key);
  }

  #get(key: string, isHead: boolean): NetworkOutcome {
    const object = this.objects.get(key);
    if (!object || isInShare(key, this.hidden)) {
      if (object) world().note('store', `${key} is hidden`);
      return isHead
        ? answered(404, '', { 'x-minio-error-code': 'NoSuchKey' })
        : answered(404, errorDocument('NoSuchKey'));
    }
    const { bytes, etag, modified, version } = object;
    const headers = {
      'x-amz-version-id': version,
      etag: `"${etag}"`,
      'content-type': 'application/octet-stream',
      'last-modified': modified.toUTCString(),
    };
    const answer = answerOf(200, isHead ? Buffer.alloc(0) : bytes, headers);
    return {
      kind: 'answer',
      answer: { ...answer, headers: { ...answer.headers, 'content-length': String(bytes.length) } },
    };
  }

  /** Pages are not needed: no bucket of the simulation has a thousand objects. */
  #list(query: URLSearchParams): NetworkOutcome {
    const prefix = query.get('prefix') ?? '';
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    const listed = keys.filter((key) => !isInShare(key, this.unlisted));
    if (listed.length < keys.length)
      world().note('store', `a list is short by ${keys.length - listed.length}`);
    const contents = listed.map((key) => {
      const { bytes, etag, modified } = this.objects.get(key) as S3Object;
      return contentsOf({ key, modified, etag, size: bytes.length });
    });
    return answered(200, listDocument(contents.slice(0, Number(query.get('max-keys') ?? 1000))));
  }
}

/** Returns the code by which bytes with other digests than those of their request are refused. */
function refusalOfDigests({ headers, body }: NetworkRequest): string | undefined {
  if (headers['content-md5'] !== Buffer.from(hash('md5', body), 'hex').toString('base64')) return 'BadDigest';
  return headers['x-amz-content-sha256'] === hash('sha256', body) ? undefined : 'XAmzContentSHA256Mismatch';
}

/** Decides by the key, so that an object that is hidden stays so for the whole time. */
function isInShare(key: string, shares: ReadonlySet<number>): boolean {
  const place = Number.parseInt(key.slice(-4), 16) / 65_536;
  return [...shares].some((share) => place < share);
}

function answered(status: number, text: string, headers: Record<string, string> = {}): NetworkOutcome {
  const type = text === '' ? {} : { 'content-type': 'application/xml' };
  return { kind: 'answer', answer: answerOf(status, Buffer.from(text), { ...type, ...headers }) };
}

function answerOf(status: number, body: Buffer, headers: Record<string, string>): NetworkAnswer {
  return { status, body, headers: { 'content-length': String(body.length), ...headers } };
}
