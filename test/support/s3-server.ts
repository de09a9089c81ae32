import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { receiveBody } from './s3-bodies.ts';
import { S3Bucket, type S3Object } from './s3-bucket.ts';
import { S3Refusal } from './s3-refusal.ts';
import { signatureFault } from './s3-signature.ts';

export type S3ServerOptions = {
  readonly accessKey?: string;
  readonly secretKey?: string;
  /** Objects listed in one answer; S3 may give fewer than it is asked for. */
  readonly pageSize?: number;
  readonly mayMakeBuckets?: boolean;
  /** Only what begins so may be listed, as a policy for a shared bucket says it: what is missing is denied, then. */
  readonly listable?: string;
};

/**
 * An S3 server for tests, in files of a temporary folder: checks signatures, digests and part sizes. Where
 * stores differ it is the stricter: like MinIO it lists uploads by their whole key only, like S3 it gives a
 * copy another ETag than the object put together from parts, like Swift it calls an empty answer text/html.
 */
export class S3Server implements AsyncDisposable {
  readonly buckets = new Map<string, S3Bucket>();
  readonly options: Required<Omit<S3ServerOptions, 'listable'>>;
  readonly #listable: string;
  readonly #folder: string;
  readonly #server: Server;

  static async start(options: S3ServerOptions = {}): Promise<S3Server> {
    const server = new S3Server(await mkdtemp(path.join(tmpdir(), 's3-server-')), options);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  private constructor(folder: string, options: S3ServerOptions) {
    const defaults = { accessKey: 'TESTACCESSKEY', secretKey: 'test-secret-key', pageSize: 1000 };
    this.options = { ...defaults, mayMakeBuckets: true, ...options };
    this.#listable = options.listable ?? '';
    this.#folder = folder;
    this.#server = http.createServer((request, response) => void this.#answer(request, response));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens on a port, not a pipe
  }

  makeBucket(name: string): S3Bucket {
    const bucket = new S3Bucket(this.#folder);
    this.buckets.set(name, bucket);
    return bucket;
  }

  /** Replaces the bytes of an object but not what is told about it, as a failing disk does. */
  async damage(bucket: S3Bucket, key: string, change: (bytes: Buffer) => Buffer): Promise<void> {
    const object = bucket.get(key);
    const bytes = change(await readFile(object.body.file));
    const file = path.join(this.#folder, randomUUID());
    await writeFile(file, bytes);
    bucket.objects.set(key, { ...object, body: { ...object.body, file, length: bytes.length } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('x-amz-request-id', 'test');
    try {
      await this.#route(request, response);
    } catch (error) {
      if (response.headersSent || request.destroyed) return void response.destroy();
      const { status, code } = error instanceof S3Refusal ? error : { status: 500, code: 'InternalError' };
      request.resume(); // what still comes is read, so that the client reads the answer
      respond(request, response, status, `<Error><Code>${code}</Code><Message>refused</Message></Error>`);
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const fault = signatureFault({ method, url, headers }, { ...this.options, now: new Date() });
    if (fault !== undefined) throw new S3Refusal(403, fault);
    const { pathname, searchParams } = new URL(url, 'http://s3');
    const [, name = '', ...rest] = decodeURIComponent(pathname).split('/');
    const key = rest.join('/');
    const exchange = { request, response, method, query: searchParams, key };
    if (method === 'PUT' && key === '') return this.#makeBucket(name, exchange);
    const bucket = this.buckets.get(name);
    if (bucket === undefined) throw new S3Refusal(404, 'NoSuchBucket');
    if (key === '') return this.#answerBucket(bucket, exchange);
    if (searchParams.has('uploads') || searchParams.has('uploadId'))
      return this.#answerUpload(bucket, exchange);
    return this.#answerObject(bucket, exchange);
  }

  #makeBucket(name: string, { request, response }: Exchange): void {
    if (!this.options.mayMakeBuckets) throw new S3Refusal(403, 'AccessDenied');
    if (this.buckets.has(name)) throw new S3Refusal(409, 'BucketAlreadyOwnedByYou');
    this.makeBucket(name);
    request.resume();
    respond(request, response, 200);
  }

  #answerBucket(bucket: S3Bucket, { request, response, method, query }: Exchange): void {
    if (method === 'HEAD') return respond(request, response, 200);
    if (method !== 'GET') throw new S3Refusal(405, 'MethodNotAllowed');
    if (query.has('uploads')) return respond(request, response, 200, uploadsOf(bucket, query));
    if (!query.get('prefix')?.startsWith(this.#listable)) throw new S3Refusal(403, 'AccessDenied');
    if (query.get('list-type') !== '2') throw new S3Refusal(501, 'NotImplemented');
    respond(request, response, 200, page(bucket, query, this.options.pageSize));
  }

  async #answerUpload(bucket: S3Bucket, { request, response, method, query, key }: Exchange): Promise<void> {
    const id = query.get('uploadId') ?? '';
    if (method === 'POST' && query.has('uploads')) {
      const begun = tag('InitiateMultipartUploadResult', tag('UploadId', bucket.beginUpload(key)));
      return respond(request, response, 200, begun);
    }
    if (method === 'PUT') {
      const body = await receiveBody(request, this.#folder);
      bucket.putPart(key, id, Number(query.get('partNumber')), body);
      return respond(request, response, 200, '', { etag: `"${body.md5}"` });
    }
    if (method === 'DELETE') {
      bucket.abort(key, id);
      return respond(request, response, 204);
    }
    if (method !== 'POST') throw new S3Refusal(405, 'MethodNotAllowed');
    const named = (await text(request)).matchAll(
      /<PartNumber>(\d+)<\/PartNumber>\s*<ETag>"?([^<"]*)"?<\/ETag>/g,
    );
    const parts = Array.from(named, ([, number, etag = '']) => ({ number: Number(number), etag }));
    const { etag } = await bucket.complete(key, id, parts);
    const told = tag('Location', 'there') + tag('Key', key) + tag('ETag', `&quot;${etag}&quot;`);
    respond(request, response, 200, tag('CompleteMultipartUploadResult', told));
  }

  async #answerObject(bucket: S3Bucket, { request, response, method, key }: Exchange): Promise<void> {
    const source = request.headers['x-amz-copy-source'];
    if (method === 'PUT' && typeof source === 'string') {
      const { etag, modified } = await this.#copy(bucket, decodeURIComponent(source), key);
      const told = tag('ETag', `&quot;${etag}&quot;`) + tag('LastModified', modified.toISOString());
      return respond(request, response, 200, tag('CopyObjectResult', told));
    }
    if (method === 'PUT') {
      const { etag } = bucket.put(key, await receiveBody(request, this.#folder));
      return respond(request, response, 200, '', { etag: `"${etag}"` });
    }
    if (method === 'DELETE') {
      bucket.remove(key);
      return respond(request, response, 204);
    }
    if (this.#listable !== '' && !bucket.objects.has(key)) throw new S3Refusal(403, 'AccessDenied');
    const { body, etag, modified } = bucket.get(key);
    response.writeHead(200, {
      etag: `"${etag}"`,
      'content-length': body.length,
      'content-type': 'application/octet-stream',
      'last-modified': modified.toUTCString(),
    });
    if (method === 'HEAD') return void response.end();
    await pipeline(createReadStream(body.file), response);
  }

  #copy(bucket: S3Bucket, source: string, key: string): Promise<S3Object> {
    const [name = '', ...rest] = source.replace(/^\//, '').split('/');
    const from = this.buckets.get(name);
    if (from === undefined) throw new S3Refusal(404, 'NoSuchBucket');
    return bucket.copy(from.get(rest.join('/')), key);
  }
}

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly key: string;
};

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  xml = '',
  headers: Record<string, string> = {},
): void {
  const type = xml === '' ? 'text/html; charset=UTF-8' : 'application/xml';
  response.writeHead(status, { ...headers, 'content-type': type, 'content-length': Buffer.byteLength(xml) });
  response.end(request.method === 'HEAD' ? undefined : xml);
}

/** The token is the last key of the page before. */
function page(bucket: S3Bucket, query: URLSearchParams, pageSize: number): string {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? '';
  const keys = [...bucket.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const listed = keys.slice(0, Math.min(pageSize, Number(query.get('max-keys') ?? 1000)));
  const truncated = listed.length < keys.length;
  const next = truncated ? tag('NextContinuationToken', listed.at(-1) ?? '') : '';
  const contents = listed.map((key) => tag('Contents', described(key, bucket.get(key))));
  return tag('ListBucketResult', tag('IsTruncated', String(truncated)) + next + contents.join(''));
}

function described(key: string, { body, etag, modified }: S3Object): string {
  const told = tag('Key', key) + tag('LastModified', modified.toISOString());
  return told + tag('ETag', `&quot;${etag}&quot;`) + tag('Size', String(body.length));
}

function uploadsOf(bucket: S3Bucket, query: URLSearchParams): string {
  const key = query.get('prefix') ?? '';
  // Swift finds an empty delimiter in every key, which makes a common prefix of the upload.
  const uploads =
    query.get('delimiter') === '' ? [] : [...bucket.uploads].filter(([, upload]) => upload.key === key);
  const told = uploads.map(([id, { begun }]) =>
    tag('Upload', tag('Key', key) + tag('UploadId', id) + tag('Initiated', begun.toISOString())),
  );
  return tag('ListMultipartUploadsResult', tag('IsTruncated', 'false') + told.join(''));
}

/** Only for names and values that need no escaping. */
function tag(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}
