import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type Exchange, quoted, respond, tag, xmlOf } from './s3-answers.ts';
import { receiveBody } from './s3-bodies.ts';
import type { S3Bucket } from './s3-bucket.ts';
import { S3Refusal } from './s3-refusal.ts';
import type { S3Object } from './s3-versions.ts';

/** MinIO reads this many bytes before it answers; of a longer object it sends the bytes before the damage. */
const READ_FIRST_BYTES = 200_000;
const BLOCK_BYTES = 1024 * 1024;

/** Answers a request about one object. */
export async function answerObject(bucket: S3Bucket, exchange: Exchange): Promise<void> {
  const { request, method, key, query } = exchange;
  const source = request.headers['x-amz-copy-source'];
  if (method === 'PUT' && key.split('/').some((segment) => Buffer.byteLength(segment) > 255))
    throw new S3Refusal(400, 'XMinioInvalidObjectName');
  if (method === 'PUT' && typeof source === 'string')
    return copy(bucket, decodeURIComponent(source), exchange);
  if (method === 'PUT') return put(bucket, exchange);
  if (method === 'DELETE') return remove(bucket, exchange);
  if (method !== 'GET' && method !== 'HEAD') throw new S3Refusal(405, 'MethodNotAllowed');
  const versionId = query.get('versionId');
  const object = versionId === null ? bucket.get(key) : bucket.versions.find(key, versionId);
  if (object === undefined) throw new S3Refusal(404, 'NoSuchVersion');
  return send(bucket, exchange, object);
}

async function put(bucket: S3Bucket, exchange: Exchange): Promise<void> {
  const { request, key } = exchange;
  const { 'if-none-match': ifNone, 'if-match': ifMatch } = request.headers;
  const there = bucket.objects.get(key);
  const isOther = ifMatch !== undefined && ifMatch.replaceAll('"', '') !== there?.etag;
  if ((ifNone === '*' && there !== undefined) || isOther) throw new S3Refusal(412, 'PreconditionFailed');
  const { etag, versionId } = bucket.put(key, await receiveBody(exchange));
  respond(exchange, 200, '', { etag: `"${etag}"`, ...version(versionId) });
}

async function copy(bucket: S3Bucket, source: string, exchange: Exchange): Promise<void> {
  const { buckets, bucketName, key } = exchange;
  const [name = '', ...rest] = source.replace(/^\//, '').split('/');
  const from = buckets.get(name);
  if (from === undefined) throw new S3Refusal(404, 'NoSuchBucket');
  const copied = from.get(rest.join('/'));
  if (name === bucketName && rest.join('/') === key && exchange.kind !== 'swift')
    throw new S3Refusal(400, 'InvalidRequest');
  const { etag, modified, versionId } = await bucket.copy(copied, key);
  const elements = tag('LastModified', modified.toISOString()) + tag('ETag', quoted(etag));
  const headers = { etag: `"${etag}"`, ...version(versionId) };
  respond(exchange, 200, xmlOf(tag('CopyObjectResult', elements)), headers);
}

function remove(bucket: S3Bucket, exchange: Exchange): void {
  const { key, query } = exchange;
  const versionId = query.get('versionId');
  if (versionId !== null) {
    bucket.versions.removeVersion(key, versionId);
    return respond(exchange, 204, '', version(versionId));
  }
  const marker = bucket.versions.remove(key);
  const marked = marker === undefined ? {} : { 'x-amz-delete-marker': 'true' };
  respond(exchange, 204, '', { ...version(marker), ...marked });
}

async function send(bucket: S3Bucket, exchange: Exchange, object: S3Object): Promise<void> {
  const { request, response, method, key } = exchange;
  const { body, etag, modified, versionId } = object;
  const range = rangeOf(request.headers.range, body.length);
  const headers = {
    etag: `"${etag}"`,
    'content-type': 'application/octet-stream',
    'last-modified': modified.toUTCString(),
    'accept-ranges': 'bytes',
    ...version(versionId),
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${body.length}` }),
  };
  const { start, end } = range ?? { start: 0, end: body.length - 1 };
  const length = end - start + 1;
  const isDamaged = method === 'GET' && bucket.flipped.has(key);
  const readable = isDamaged ? soundBytes(body.length) - start : length;
  if (isDamaged && readable <= 0) throw new S3Refusal(503, 'SlowDownRead', { 'retry-after': '60' });
  response.writeHead(range ? 206 : 200, { ...headers, 'content-length': length });
  if (method === 'HEAD' || length === 0) return void response.end();
  const bytes = createReadStream(body.file, { start, end: start + Math.min(readable, length) - 1 });
  await pipeline(bytes, response, { end: readable >= length });
  if (readable < length) response.write('', () => response.destroy());
}

/** Returns the number of bytes before the block in which a bit is flipped: the one in the middle. */
function soundBytes(length: number): number {
  if (length <= READ_FIRST_BYTES) return 0;
  return Math.floor(length / 2 / BLOCK_BYTES) * BLOCK_BYTES;
}

function rangeOf(header: string | undefined, length: number): { start: number; end: number } | undefined {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === undefined) return undefined;
  const [start, end] = [Number(from), to === '' || to === undefined ? length - 1 : Number(to)];
  if (start >= length || start > end) throw new S3Refusal(416, 'InvalidRange');
  return { start, end: Math.min(end, length - 1) };
}

function version(id: string | undefined): Readonly<Record<string, string>> {
  return id === undefined ? {} : { 'x-amz-version-id': id };
}
