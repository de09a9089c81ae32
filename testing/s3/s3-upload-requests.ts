import { text } from 'node:stream/consumers';
import { type Exchange, quoted, respond, tag, xmlOf } from './s3-answers.ts';
import { receiveBody } from './s3-bodies.ts';
import type { S3Bucket } from './s3-bucket.ts';
import { S3Refusal } from './s3-refusal.ts';

const MAX_PARTS = 10_000;

/** Answers a request about an upload in parts. */
export async function answerUpload(bucket: S3Bucket, exchange: Exchange): Promise<void> {
  const { method, query } = exchange;
  const id = query.get('uploadId') ?? '';
  if (method === 'POST' && query.has('uploads')) return begin(bucket, exchange);
  if (method === 'POST') return complete(bucket, exchange, id);
  if (method === 'PUT') return putPart(bucket, exchange, id);
  if (method === 'DELETE') return abort(bucket, exchange, id);
  throw new S3Refusal(405, 'MethodNotAllowed');
}

function begin(bucket: S3Bucket, exchange: Exchange): void {
  const { bucketName, key } = exchange;
  const elements = tag('Bucket', bucketName) + tag('Key', key) + tag('UploadId', bucket.beginUpload(key));
  respond(exchange, 200, xmlOf(tag('InitiateMultipartUploadResult', elements)));
}

async function putPart(bucket: S3Bucket, exchange: Exchange, id: string): Promise<void> {
  const { query, key } = exchange;
  const number = Number(query.get('partNumber'));
  if (number > MAX_PARTS) throw new S3Refusal(400, 'InvalidArgument');
  if (!(number > 0)) throw new S3Refusal(400, 'InvalidPart');
  bucket.assertUpload(key, id);
  const body = await receiveBody(exchange);
  bucket.putPart(key, id, number, body);
  respond(exchange, 200, '', { etag: `"${body.md5}"` });
}

async function complete(bucket: S3Bucket, exchange: Exchange, id: string): Promise<void> {
  const { request, bucketName, key } = exchange;
  const sent = await text(request);
  if (!sent.includes('<CompleteMultipartUpload')) throw new S3Refusal(400, 'MalformedXML');
  const named = sent.matchAll(/<PartNumber>(\d+)<\/PartNumber>\s*<ETag>(?:"|&quot;)?([^<"&]*)/g);
  const parts = Array.from(named, ([, number, etag = '']) => ({ number: Number(number), etag }));
  const { etag, versionId } = await bucket.complete(key, id, parts);
  const location = tag('Location', `http://${request.headers.host}/${bucketName}/${key}`);
  const elements = location + tag('Bucket', bucketName) + tag('Key', key) + tag('ETag', quoted(etag));
  const version = versionId === undefined ? undefined : { 'x-amz-version-id': versionId };
  respond(exchange, 200, xmlOf(tag('CompleteMultipartUploadResult', elements)), {
    etag: `"${etag}"`,
    ...version,
  });
}

/** Aborts an upload. MinIO does not report that there is no such upload. */
function abort(bucket: S3Bucket, exchange: Exchange, id: string): void {
  const isThere = bucket.uploads.get(id)?.key === exchange.key;
  if (isThere || exchange.kind !== 'minio') bucket.abort(exchange.key, id);
  respond(exchange, 204);
}
