import type { IncomingHttpHeaders } from 'node:http';
import { type BucketItemStat, Client, CopyDestinationOptions, CopySourceOptions } from 'minio';
import type { S3Place } from '../s3-url.ts';
import { unavailable } from '../unavailable.ts';
import { faultOf, isDamagedOnWay, isFault, isMissing, listedOnly, notS3, S3Fault } from './fault.ts';
import { assertFrom, objectBytes } from './object-bytes.ts';
import type { Sendable } from './part.ts';
import { withRetries } from './retries.ts';
import { DEFAULT_TIMEOUTS, TimedTransport, type Timeouts } from './transport.ts';

export type MinioPlace = S3Place & {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly timeouts?: Partial<Timeouts> | undefined;
};

export type KeptObject = {
  readonly length: number;
  readonly etag: string;
  readonly storedAt: Date;
  /** Where the bucket has versions. */
  readonly versionId?: string | undefined;
};

/** One bucket. Whatever goes wrong with it is an `ArchiveStoreUnavailable` that holds no secrets. */
export class MinioBucket implements Disposable {
  readonly name: string;
  /** Begins every key of ours. Of letters, digits, `/`, `-`, `_` and `.` only. */
  readonly prefix: string;
  readonly #place: string;
  readonly #region: string;
  readonly #client: Client;
  readonly #transport: TimedTransport;
  readonly #limits: Timeouts;

  constructor({ endpoint, bucket, region, accessKey, secretKey, prefix, timeouts }: MinioPlace) {
    const limits = { ...DEFAULT_TIMEOUTS, ...timeouts };
    this.name = bucket;
    this.#place = `${endpoint.host}:${endpoint.port}`;
    this.prefix = prefix;
    this.#region = region;
    this.#limits = limits;
    this.#transport = new TimedTransport(endpoint.tls, limits);
    this.#client = new Client({
      endPoint: endpoint.host.replace(/^\[(.*)\]$/, '$1'), // minio puts the brackets of an IPv6 address back
      port: endpoint.port,
      useSSL: endpoint.tls,
      region,
      accessKey,
      secretKey,
      transport: this.#transport,
      transportAgent: this.#transport.agent,
      retryOptions: { disableRetry: true }, // it would write to the console, and forget to read the answer
    });
  }

  /** Whether requests are signed together with the SHA-256 of their body. */
  get #signsBodies(): boolean {
    return this.#client.enableSHA256;
  }

  /** Makes one request, and again as {@link withRetries} does. */
  async ask<T>(cannot: string, work: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await withRetries(() => work(this.#client), this.#limits.restart);
    } catch (error) {
      throw unavailable(cannot, error);
    }
  }

  /** The same for a request for which the store works on this many bytes before it answers. */
  askToWorkOn<T>(bytes: number, cannot: string, work: (client: Client) => Promise<T>): Promise<T> {
    return this.ask(cannot, (client) => this.#transport.workingOn(bytes, () => work(client)));
  }

  async askOnce<T>(cannot: string, work: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await work(this.#client);
    } catch (error) {
      throw unavailable(cannot, faultOf(error));
    }
  }

  /**
   * Lists one object at most. Only a list has an answer with a body that says why it was refused. It lists below the
   * prefix, as all lists do: a policy that lacks the `*` behind its prefix allows a list of the prefix alone.
   */
  check(): Promise<void> {
    return this.ask(`use the bucket ${this.name} at ${this.#place}`, async (client) => {
      await client.listObjectsV2Query(this.name, `${this.prefix}v1/`, '', '', 1, '');
    });
  }

  make(): Promise<void> {
    return this.ask(`make the bucket ${this.name}, which does not exist`, (client) =>
      client.makeBucket(this.name, this.#region),
    );
  }

  /**
   * Sends bytes as an object, or as what `query` makes of it.
   * @returns its ETag, and whether that is the MD5 of the bytes
   */
  async send(key: string, sendable: Sendable, query = ''): Promise<{ etag: string; isMd5: boolean }> {
    const { md5 } = sendable.digests;
    const send = () => this.ask('write', (client) => this.#sendOnce(client, { ...sendable, key, query }));
    const headers = await send().catch((error: unknown) =>
      isDamagedOnWay(error) ? send() : Promise.reject(error),
    );
    const etag = unquoted(headers.etag);
    if (etag === '') throw unavailable('write', notS3('a write without an ETag'));
    const isMd5 = isMd5Of(headers, etag);
    if (isMd5 && etag !== md5) throw unavailable('write', otherBytes(md5, etag));
    return { etag, isMd5 };
  }

  async #sendOnce(
    client: Client,
    { key, query, length, digests, open }: Sending,
  ): Promise<IncomingHttpHeaders> {
    const [body, signed] = [open(), this.#signsBodies ? digests.sha256 : ''];
    try {
      const headers = {
        'content-length': length,
        'content-md5': Buffer.from(digests.md5, 'hex').toString('base64'),
        'content-type': 'application/octet-stream',
      };
      const request = { method: 'PUT', bucketName: this.name, objectName: key, query, headers };
      const response = await client.makeRequestStreamAsync(request, body, signed, [200], this.#region);
      for await (const _chunk of response);
      return response.headers;
    } finally {
      if (!Buffer.isBuffer(body)) body.destroy();
    }
  }

  /** The store itself copies; the name holds the old object until it holds all of the new one. */
  copy(from: string, to: string, length: number): Promise<void> {
    const source = new CopySourceOptions({ Bucket: this.name, Object: from });
    const target = new CopyDestinationOptions({ Bucket: this.name, Object: to });
    return this.askToWorkOn(
      length,
      'write',
      async (client) => void (await client.copyObject(source, target)),
    );
  }

  async stat(key: string): Promise<KeptObject | undefined> {
    const found = (await this.#head(key)) ?? (await this.#headWhereListed(key));
    if (found === undefined) return undefined;
    const { size, etag, lastModified, versionId } = found;
    if (Number.isSafeInteger(size) && etag !== '' && !Number.isNaN(lastModified.getTime())) {
      return { length: size, etag, storedAt: lastModified, versionId: versionId ?? undefined };
    }
    throw unavailable('read', notS3('an object without length, ETag or time'));
  }

  /** The bytes as the store sends them; they have to be read, or the connection stays. */
  async open(key: string): Promise<AsyncGenerator<Buffer> | undefined> {
    const open = (from: number) =>
      this.ask('read', async (client) => {
        const body = await orMissing(client.getPartialObject(this.name, key, from));
        if (body) assertFrom(from, body);
        return body;
      });
    const reopen = async (from: number) => {
      const body = await open(from);
      if (body === undefined) throw unavailable('read', missingSince());
      return body;
    };
    const body = await open(0);
    return body === undefined ? this.#unlisted(key) : objectBytes(body, reopen, this.#limits);
  }

  remove(key: string): Promise<void> {
    return this.ask('remove', (client) => client.removeObject(this.name, key));
  }

  /** Asked once only: what is there after a lost answer may be another object. */
  removeOnce(key: string, versionId: string | undefined): Promise<void> {
    const version = versionId === undefined ? {} : { versionId };
    return this.askOnce('remove', (client) => client.removeObject(this.name, key, version));
  }

  /** Cuts what is under way: it fails soon. */
  [Symbol.dispose](): void {
    this.#transport.close();
  }

  #head(key: string): Promise<BucketItemStat | undefined> {
    const asked = this.ask('read', (client) => orMissing(client.statObject(this.name, key)));
    return asked.catch((error: unknown) => this.#unlessUnlisted(key, error));
  }

  /** An object that is not found, but listed, may have been put in the meantime. */
  async #headWhereListed(key: string): Promise<BucketItemStat | undefined> {
    if (!(await this.#lists(key))) return undefined;
    return (await this.#head(key)) ?? Promise.reject(unavailable('read', listedOnly()));
  }

  /** Keys that may not list the whole bucket are told that they have no access to what is not there. */
  async #unlessUnlisted(key: string, error: unknown): Promise<undefined> {
    if (!isFault(error, 'AccessDenied') || (await this.#lists(key))) throw error;
  }

  /** An object that is not found is missing only if no list has it either: some drives of the store may be away. */
  async #unlisted(key: string): Promise<undefined> {
    if (await this.#lists(key)) throw unavailable('read', listedOnly());
  }

  async #lists(key: string): Promise<boolean> {
    const { objects } = await this.ask('read', (client) =>
      client.listObjectsV2Query(this.name, key, '', '', 1, ''),
    );
    return objects.some(({ name }) => name === key);
  }
}

type Sending = Sendable & { readonly key: string; readonly query: string };

/** `undefined` for what is not there. */
export async function orMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function unquoted(etag = ''): string {
  return etag.replace(/^"|"$/g, '');
}

/** Encrypted with a key that the store does not choose itself, an object has another ETag. */
function isMd5Of(headers: IncomingHttpHeaders, etag: string): boolean {
  const encryption = headers['x-amz-server-side-encryption'] ?? 'AES256';
  const ownKey = 'x-amz-server-side-encryption-customer-algorithm' in headers;
  return /^[0-9a-f]{32}$/.test(etag) && encryption === 'AES256' && !ownKey;
}

function otherBytes(sent: string, etag: string): S3Fault {
  return new S3Fault('OtherBytes', `it was sent bytes with the MD5 ${sent} but has the ETag ${etag}`);
}

function missingSince(): S3Fault {
  return new S3Fault('NotFound', 'the object was removed while it was read');
}
