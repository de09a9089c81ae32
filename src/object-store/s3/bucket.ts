import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Client, CopyDestinationOptions, CopySourceOptions } from 'minio';
import type { S3Place } from '../../config/s3-url.ts';
import { objectPlace } from '../object-place.ts';
import { unavailable } from '../store-errors.ts';
import { assertFrom, type OpenedObject, openedObject } from './object-bytes.ts';
import { PutRequests } from './put-requests.ts';
import { withRetries } from './retries.ts';
import { faultOf, isDamagedOnWay, isFault, isMissing, listedOnly, notS3, S3Fault } from './s3-errors.ts';
import type { Sendable } from './sendable.ts';
import { DEFAULT_TIMEOUTS, TimedTransport, type Timeouts } from './transport.ts';

export type MinioPlace = S3Place & {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly timeouts?: Partial<Timeouts> | undefined;
};

type KeptObject = {
  readonly length: number;
  readonly etag: string;
  readonly storedAt: Date;
  /** Only in a bucket with versions. */
  readonly versionId?: string | undefined;
};

export type ListedKey = Omit<KeptObject, 'etag' | 'versionId'> & { readonly key: string };

/** A client that says where it sends requests. */
class AddressedClient extends Client {
  optionsFor(bucketName: string, region: string): ReturnType<Client['getRequestOptions']> & { path: string } {
    return this.getRequestOptions({ method: 'PUT', bucketName, region });
  }
}

/** One bucket. All its errors are {@link ObjectStoreUnavailable} without secrets. */
export class MinioBucket implements Disposable {
  readonly name: string;
  /** Prefix of every key of this service. Consists of letters, digits, `/`, `-`, `_` and `.`. */
  readonly prefix: string;
  readonly #place: string;
  readonly #region: string;
  readonly #client: AddressedClient;
  readonly #putsIn: (region: string) => PutRequests;
  #puts: PutRequests | undefined;
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
    this.#client = new AddressedClient({
      endPoint: endpoint.host.replace(/^\[(.*)\]$/, '$1'), // minio adds the brackets of an IPv6 address again
      port: endpoint.port,
      useSSL: endpoint.tls,
      region,
      accessKey,
      secretKey,
      transport: this.#transport,
      transportAgent: this.#transport.agent,
      retryOptions: { disableRetry: true }, // minio's retries write to the console, and do not read the answer
    });
    this.#client.enableSHA256 = true; // by default requests over TLS are signed without the SHA-256 of their body
    this.#putsIn = (found) => {
      const options = this.#client.optionsFor(bucket, found);
      return new PutRequests({ region: found, accessKey, secretKey, transport: this.#transport, options });
    };
  }

  keyOf(sha256: string): string {
    return `${this.prefix}${objectPlace(sha256)}`;
  }

  /** Makes one request, with the retries of {@link withRetries}. */
  async ask<T>(cannot: string, work: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await withRetries(() => work(this.#client), this.#limits.restart);
    } catch (error) {
      throw unavailable(cannot, error);
    }
  }

  /** Makes a request for which the store processes this many bytes before it answers. */
  askToWrite<T>(bytes: number, work: (client: Client) => Promise<T>): Promise<T> {
    return this.ask('write', (client) => this.#transport.workingOn(bytes, () => work(client)));
  }

  /**
   * Lists one object at most. Only the answer to a list has a body that says why it was refused. It lists below the
   * prefix, as all lists do: a policy without the `*` after its prefix allows only a list of the prefix.
   */
  check(): Promise<void> {
    return this.ask(`use the bucket ${this.name} at ${this.#place}`, async (client) => {
      await client.listObjectsV2Query(this.name, `${this.prefix}v1/`, '', '', 1, '');
    });
  }

  make(): Promise<void> {
    return this.ask(`create the bucket ${this.name}, which does not exist`, (client) =>
      client.makeBucket(this.name, this.#region),
    );
  }

  /**
   * Sends bytes as an object, or as the part or upload that `query` names.
   * @returns its ETag, and whether that is the MD5 of the bytes
   */
  async send(key: string, sendable: Sendable, query = ''): Promise<{ etag: string; isMd5: boolean }> {
    const { md5 } = sendable.digests;
    const send = () =>
      this.ask('write', async (client) => {
        this.#puts ??= this.#putsIn(await client.getBucketRegionAsync(this.name));
        return await this.#puts.send(key, query, sendable);
      });
    const headers = await send().catch((error: unknown) =>
      isDamagedOnWay(error) ? send() : Promise.reject(error),
    );
    const etag = unquoted(headers.etag);
    if (etag === '') throw unavailable('write', notS3('a write without an ETag'));
    const isMd5 = isMd5Of(headers, etag);
    if (isMd5 && etag !== md5) throw unavailable('write', otherBytes(md5, etag));
    return { etag, isMd5 };
  }

  /** Copies an object within the store; the target has the old object until it has all of the new one. */
  copy(from: string, to: string, length: number): Promise<void> {
    const source = new CopySourceOptions({ Bucket: this.name, Object: from });
    const target = new CopyDestinationOptions({ Bucket: this.name, Object: to });
    return this.askToWrite(length, async (client) => void (await client.copyObject(source, target)));
  }

  async stat(key: string): Promise<KeptObject | undefined> {
    const found = await this.#unlessMissing(key, () =>
      this.ask('read', (client) => orMissing(client.statObject(this.name, key))),
    );
    if (found === undefined) return undefined;
    const { size, etag, lastModified, versionId } = found;
    if (Number.isSafeInteger(size) && etag !== '' && !Number.isNaN(lastModified.getTime())) {
      return { length: size, etag, storedAt: lastModified, versionId: versionId ?? undefined };
    }
    throw unavailable('read', notS3('an object without length, ETag or time'));
  }

  /** Resolves to the bytes from `start` on as the store sends them. They must be read or closed. */
  async open(key: string, start = 0): Promise<OpenedObject | undefined> {
    const open = (from: number) =>
      this.ask('read', async (client) => {
        const body = await orMissing(client.getPartialObject(this.name, key, from));
        if (body) assertFrom(from, body as IncomingMessage); // minio's type is wider
        return body as IncomingMessage | undefined;
      });
    const reopen = async (from: number) => {
      const body = await open(start + from);
      if (body === undefined) throw unavailable('read', missingSince());
      return body;
    };
    const body = await this.#unlessMissing(key, () => open(start));
    return body && openedObject(body, reopen, this.#limits);
  }

  remove(key: string): Promise<void> {
    return this.ask('remove', (client) => client.removeObject(this.name, key));
  }

  /** Removes an object with a single request: after a lost answer there may be another object. */
  async removeOnce(key: string, versionId: string | undefined): Promise<void> {
    try {
      await this.#client.removeObject(this.name, key, versionId === undefined ? {} : { versionId });
    } catch (error) {
      throw unavailable('remove', faultOf(error));
    }
  }

  /** Yields every object whose key begins with the path, page by page. */
  async *list(path: string): AsyncGenerator<ListedKey> {
    for (let token = '', more = true; more; ) {
      const page = await this.ask('list', (client) =>
        client.listObjectsV2Query(this.name, `${this.prefix}${path}`, token, '', 1000, ''),
      );
      more = page.isTruncated;
      if (more && (!page.nextContinuationToken || page.nextContinuationToken === token)) {
        throw unavailable('list', notS3('a truncated list without a continuation'));
      }
      token = page.nextContinuationToken;
      for (const { name, size, lastModified } of page.objects) {
        if (name === undefined || !Number.isSafeInteger(size) || Number.isNaN(Number(lastModified))) {
          throw unavailable('list', notS3('an object without key, length or time'));
        }
        yield { key: name, length: size, storedAt: lastModified };
      }
    }
  }

  /** Cancels all requests in flight; they fail soon. */
  [Symbol.dispose](): void {
    this.#transport.close();
  }

  /**
   * Resolves to `undefined` only if the object is neither found nor listed: some drives of the store may be offline.
   * One that is listed is asked for again, since it may have been put meanwhile.
   */
  async #unlessMissing<T>(key: string, ask: () => Promise<T | undefined>): Promise<T | undefined> {
    const look = () => ask().catch((error: unknown) => this.#unlessUnlisted(key, error));
    const found = await look();
    if (found !== undefined || !(await this.#lists(key))) return found;
    return (await look()) ?? Promise.reject(unavailable('read', listedOnly()));
  }

  /** Treats AccessDenied as "not found": keys that may not list the whole bucket get it for missing objects. */
  async #unlessUnlisted(key: string, error: unknown): Promise<undefined> {
    if (!isFault(error, 'AccessDenied') || (await this.#lists(key))) throw error;
  }

  async #lists(key: string): Promise<boolean> {
    const { objects } = await this.ask('read', (client) =>
      client.listObjectsV2Query(this.name, key, '', '', 1, ''),
    );
    return objects.some(({ name }) => name === key);
  }
}

/** Resolves to `undefined` for a missing object. */
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

/**
 * Whether the ETag is the MD5 of the object. It is not if the object is encrypted with a key that the store does not
 * choose itself.
 */
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
