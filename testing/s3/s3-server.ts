import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { parseS3Url } from '../../src/config/s3-url.ts';
import { LocalServer } from '../http/local-server.ts';
import { type Exchange, refuse, respond, type S3Kind, tag } from './s3-answers.ts';
import { S3Bucket } from './s3-bucket.ts';
import { pageOf, uploadsOf } from './s3-listing.ts';
import { answerObject } from './s3-object-requests.ts';
import { S3Refusal } from './s3-refusal.ts';
import { signatureFault } from './s3-signature.ts';
import { assertAnswered, isClusterHealthy, type S3State } from './s3-state.ts';
import { answerUpload } from './s3-upload-requests.ts';

export type S3ServerOptions = {
  readonly accessKey?: string;
  readonly secretKey?: string;
  /** Maximum number of objects in one list; S3 may return fewer than requested. */
  readonly pageSize?: number;
  readonly mayMakeBuckets?: boolean;
  /** Prefix that may be listed, as in a policy for a shared bucket. */
  readonly listable?: string;
  /** Requests have to be signed for this region; without it, for any. */
  readonly region?: string;
  /** Whether it accepts bodies that differ from the digest with which their request is signed. */
  readonly ignoresDigests?: boolean;
  /** The store whose behaviour it has when stores differ. */
  readonly kind?: S3Kind;
};

/**
 * An S3 server for tests, in files of a temporary folder. It follows the rules of real MinIO servers that
 * docs/minio-rules.md lists, with faults that a real one has no switch for. It checks signatures, digests and part
 * sizes. As `aws` or `swift` it answers like those if they differ.
 */
export class S3Server implements AsyncDisposable {
  readonly buckets = new Map<string, S3Bucket>();
  readonly options: Required<Omit<S3ServerOptions, 'listable' | 'region'>>;
  state: S3State = 'healthy';
  readonly #listable: string;
  readonly #region: string | undefined;
  readonly #folder: string;
  readonly #server = new LocalServer((request, response) => void this.#answer(request, response));

  static async start(options: S3ServerOptions = {}): Promise<S3Server> {
    const server = new S3Server(await mkdtemp(path.join(tmpdir(), 's3-server-')), options);
    await server.#server.listen();
    return server;
  }

  private constructor(folder: string, { listable = '', region, ...options }: S3ServerOptions) {
    const defaults = { accessKey: 'TESTACCESSKEY', secretKey: 'test-secret-key', pageSize: 1000 };
    this.options = { ...defaults, mayMakeBuckets: true, ignoresDigests: false, kind: 'minio', ...options };
    this.#listable = listable;
    this.#region = region;
    this.#folder = folder;
  }

  get port(): number {
    return this.#server.port;
  }

  /** Returns the settings of a node with its objects in a bucket. `port` may be that of a proxy before this server. */
  settings(bucket = 'deposits', port = this.port) {
    return {
      DEPOSIT_ARCHIVE_STORE: `s3://127.0.0.1:${port}/${bucket}?tls=false`,
      DEPOSIT_S3_ACCESS_KEY: this.options.accessKey,
      DEPOSIT_S3_SECRET_KEY: this.options.secretKey,
    };
  }

  /** Returns the same settings as they are read. */
  store(bucket?: string, port?: number) {
    const { accessKey, secretKey } = this.options;
    const place = parseS3Url(this.settings(bucket, port).DEPOSIT_ARCHIVE_STORE);
    return { kind: 's3', ...place, accessKey, secretKey } as const;
  }

  makeBucket(name: string): S3Bucket {
    const bucket = new S3Bucket(this.#folder);
    this.buckets.set(name, bucket);
    return bucket;
  }

  /** Replaces the bytes of an object but not its metadata, as a disk does that no real server reads unchecked. */
  async damage(bucket: S3Bucket, key: string, change: (bytes: Buffer) => Buffer): Promise<void> {
    const object = bucket.get(key);
    const bytes = change(await readFile(object.body.file));
    const file = path.join(this.#folder, randomUUID());
    await writeFile(file, bytes);
    bucket.objects.set(key, { ...object, body: { ...object.body, file, length: bytes.length } });
  }

  /** Loses one object as {@link S3Bucket.cutPower} does, and breaks every connection. Returns its key. */
  cutPower(bucket: S3Bucket, key?: string): string | undefined {
    this.#server.breakConnections();
    return bucket.cutPower(key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('x-amz-request-id', 'test');
    try {
      await this.#route(request, response);
    } catch (error) {
      if (response.headersSent || response.destroyed) return void response.destroy();
      const refusal = error instanceof S3Refusal ? error : new S3Refusal(500, 'InternalError');
      refuse({ request, response, kind: this.options.kind }, refusal);
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = this.#exchange(request, response);
    const { method, bucketName, key } = exchange;
    if (bucketName === 'minio') return this.#answerHealth(exchange);
    const isLocation = method === 'GET' && key === '' && exchange.query.has('location');
    this.#assertSigned(request, isLocation ? undefined : this.#region);
    const bucket = this.buckets.get(bucketName);
    const isList = method === 'GET' && key === '';
    assertAnswered(this.state, { method, isList, exists: bucket?.objects.has(key) ?? false });
    if (method === 'PUT' && key === '' && !exchange.query.has('versioning'))
      return this.#makeBucket(exchange);
    if (bucket === undefined) {
      // Without the right to list it, MinIO does not reveal whether a bucket exists.
      throw this.#listable === '' ? new S3Refusal(404, 'NoSuchBucket') : new S3Refusal(403, 'AccessDenied');
    }
    if (key === '') return this.#answerBucket(bucket, exchange);
    if (exchange.query.has('uploads') || exchange.query.has('uploadId'))
      return answerUpload(bucket, exchange);
    const reads = method === 'HEAD' || method === 'GET';
    const isHidden = this.options.kind === 'aws' && this.#listable !== '' && !bucket.objects.has(key);
    if (isHidden && reads) throw new S3Refusal(403, 'AccessDenied');
    return answerObject(bucket, exchange);
  }

  #exchange(request: IncomingMessage, response: ServerResponse): Exchange {
    const { method = '', url = '' } = request;
    const { pathname, searchParams: query } = new URL(url, 'http://s3');
    const [, bucketName = '', ...rest] = decodeURIComponent(pathname).split('/');
    const [folder, { buckets }] = [this.#folder, this];
    const { kind, ignoresDigests } = this.options;
    return {
      ignoresDigests,
      request,
      response,
      method,
      query,
      bucketName,
      key: rest.join('/'),
      kind,
      folder,
      buckets,
    };
  }

  #assertSigned({ method = '', url = '', headers }: IncomingMessage, region: string | undefined): void {
    const { accessKey, secretKey } = this.options;
    const keys = { accessKey, secretKey, region, now: new Date() };
    const fault = signatureFault({ method, url, headers }, keys);
    if (fault !== undefined) throw new S3Refusal(fault === 'AuthorizationHeaderMalformed' ? 400 : 403, fault);
  }

  #answerHealth(exchange: Exchange): void {
    const isHealthy = exchange.key !== 'health/cluster' || isClusterHealthy(this.state);
    respond(exchange, isHealthy ? 200 : 503);
  }

  #makeBucket(exchange: Exchange): void {
    const { request, bucketName } = exchange;
    if (!this.options.mayMakeBuckets) throw new S3Refusal(403, 'AccessDenied');
    if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucketName)) throw new S3Refusal(400, 'InvalidBucketName');
    if (this.buckets.has(bucketName)) throw new S3Refusal(409, 'BucketAlreadyOwnedByYou');
    this.makeBucket(bucketName);
    request.resume();
    respond(exchange, 200, '', { location: `/${bucketName}` });
  }

  async #answerBucket(bucket: S3Bucket, exchange: Exchange): Promise<void> {
    const { request, method, query, bucketName: name } = exchange;
    if (method === 'PUT') {
      bucket.versions.enabled = (await text(request)).includes('<Status>Enabled</Status>');
      return respond(exchange, 200);
    }
    if (method === 'HEAD') return respond(exchange, 200);
    if (method !== 'GET') throw new S3Refusal(405, 'MethodNotAllowed');
    if (query.has('location')) return respond(exchange, 200, tag('LocationConstraint', this.#region ?? ''));
    if (query.has('uploads')) return respond(exchange, 200, uploadsOf(bucket, query, exchange.kind));
    if (!query.get('prefix')?.startsWith(this.#listable)) throw new S3Refusal(403, 'AccessDenied');
    if (query.get('list-type') !== '2') throw new S3Refusal(501, 'NotImplemented');
    respond(exchange, 200, pageOf({ name, bucket }, query, this.options.pageSize));
  }
}
