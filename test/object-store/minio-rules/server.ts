import { hash, randomBytes, randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import type { S3Bucket } from '../../../testing/s3/s3-bucket.ts';
import { type S3Answer, S3Client, type S3Request } from '../../../testing/s3/s3-client.ts';
import type { S3Server, S3ServerOptions } from '../../../testing/s3/s3-server.ts';
import { placeAt, realPlace, SERVER_DRIVE, SERVER_URL, serverIn } from '../s3-under-test.ts';

/**
 * `both`: the test server, or the server at `S3_URL`. `drive`: the same, but a server needs `S3_DRIVE`, too. `test
 * server`: no client can cause what the rule is about, or it needs a server that is set up otherwise.
 */
export type Where = 'both' | 'drive' | 'test server';

/** The rules that have a test, for comparison with the page that lists them. */
export const rules: { readonly title: string; readonly where: Where }[] = [];

export function rule(where: Where, title: string, body: (t: ExecutionContext) => Promise<void>): void {
  rules.push({ title, where });
  const isReal = SERVER_URL !== undefined;
  const runs = !isReal || where === 'both' || (where === 'drive' && SERVER_DRIVE !== undefined);
  (runs ? test : test.skip)(title, body);
}

/** A server that keeps to the rules, and a bucket of one test on it. */
export type RulesServer = {
  readonly client: S3Client;
  readonly bucket: string;
  /** Sends a request about a key of the bucket. */
  readonly send: (key: string, request?: S3Request) => Promise<S3Answer>;
  readonly put: (key: string, body?: Uint8Array | string, headers?: Headers) => Promise<S3Answer>;
};

type Headers = Readonly<Record<string, string>>;

/** Returns the server of the environment, or a test server. */
export async function rulesServer(t: ExecutionContext): Promise<RulesServer> {
  if (SERVER_URL === undefined) return (await rulesTestServer(t)).rules;
  const rules = on(new S3Client(realPlace(SERVER_URL)));
  t.is((await rules.client.send(rules.bucket, { method: 'PUT' })).status, 200);
  return rules;
}

/** Returns a test server with these options, and the bucket that the requests are about. */
export async function rulesTestServer(
  t: ExecutionContext,
  options: S3ServerOptions = {},
): Promise<{ readonly rules: RulesServer; readonly server: S3Server; readonly there: S3Bucket }> {
  const server = await serverIn(t, options);
  const rules = on(new S3Client(placeAt(server, server.port)));
  return { rules, server, there: server.makeBucket(rules.bucket) };
}

function on(client: S3Client): RulesServer {
  const bucket = `rules-${randomUUID()}`;
  const send = (key: string, request: S3Request = {}) =>
    client.send(key === '' ? bucket : `${bucket}/${key}`, request);
  const put = (key: string, body: Uint8Array | string = 'bytes', headers: Headers = {}) =>
    send(key, { method: 'PUT', body, headers });
  return { client, bucket, send, put };
}

/** Returns the id of an upload in parts that has begun. */
export async function beginUpload({ send }: RulesServer, key: string): Promise<string> {
  const { body } = await send(key, { method: 'POST', query: 'uploads=' });
  return /<UploadId>([^<]+)</.exec(body.toString())?.[1] ?? '';
}

export async function putPart(
  { send }: RulesServer,
  key: string,
  id: string,
  part: { readonly number: number; readonly body?: Uint8Array | string },
): Promise<S3Answer> {
  const { number, body = 'part' } = part;
  return send(key, { method: 'PUT', query: partQuery(id, number), body });
}

function partQuery(id: string, number: number): string {
  return `partNumber=${number}&uploadId=${encodeURIComponent(id)}`;
}

export type NamedPart = { readonly number: number; readonly etag: string };

export async function complete(
  { send }: RulesServer,
  key: string,
  id: string,
  parts: readonly NamedPart[] | string,
): Promise<S3Answer> {
  return send(key, { method: 'POST', query: uploadQuery(id), body: completion(parts) });
}

function completion(parts: readonly NamedPart[] | string): string {
  if (typeof parts === 'string') return parts;
  const named = parts.map(
    ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${named.join('')}</CompleteMultipartUpload>`;
}

export function uploadQuery(id: string): string {
  return `uploadId=${encodeURIComponent(id)}`;
}

/** Returns the MD5 as it is in an ETag. */
export function md5Of(body: Uint8Array | string): string {
  return hash('md5', body);
}

/** Returns the MD5 as it is in the header `Content-MD5`. */
export function contentMd5(body: Uint8Array | string): string {
  return hash('md5', body, 'buffer').toString('base64');
}

export const MIB = 1024 ** 2;

export function newBytes(length: number): Buffer {
  return randomBytes(length);
}

export function textsOf({ body }: S3Answer, name: string): string[] {
  return Array.from(
    body.toString().matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g')),
    ([, text = '']) => text,
  );
}

export function textOf({ body }: S3Answer): string {
  return body.toString();
}
