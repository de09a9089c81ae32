import { quoted, type S3Kind, tag, xmlOf } from './s3-answers.ts';
import type { S3Bucket } from './s3-bucket.ts';
import { S3Refusal } from './s3-refusal.ts';
import type { S3Object } from './s3-versions.ts';

type ListedBucket = { readonly name: string; readonly bucket: S3Bucket };

/** Returns a page of the objects. Its token is the last key of the page before. */
export function pageOf({ name, bucket }: ListedBucket, query: URLSearchParams, pageSize: number): string {
  const prefix = query.get('prefix') ?? '';
  const after = afterToken(query.get('continuation-token'));
  const asked = Number(query.get('max-keys') ?? 1000);
  const keys = [...bucket.objects.keys()]
    .filter((key) => key.startsWith(prefix) && inBytes(key, after) > 0 && !bucket.unlisted.has(key))
    .sort(inBytes);
  const page = keys.slice(0, Math.min(pageSize, asked));
  const isTruncated = asked > 0 && page.length < keys.length;
  const next = isTruncated ? tag('NextContinuationToken', tokenAfter(page.at(-1) ?? '')) : '';
  const about =
    tag('Name', name) +
    tag('Prefix', prefix) +
    tag('KeyCount', `${page.length}`) +
    tag('MaxKeys', `${asked}`) +
    tag('IsTruncated', `${isTruncated}`);
  const contents = page.map((key) => listed(key, bucket.objects.get(key)));
  return xmlOf(tag('ListBucketResult', about + next + contents.join('')));
}

/** Returns the uploads to a key by their beginnings; without a key, as MinIO, those begun in this process. */
export function uploadsOf(bucket: S3Bucket, query: URLSearchParams, kind: S3Kind): string {
  const key = query.get('prefix') ?? '';
  const all = [...bucket.uploads].filter(([, upload]) => key === '' || upload.key === key);
  // Swift finds an empty delimiter in every key, which makes a common prefix of the upload.
  const isEmpty = (kind === 'swift' && query.get('delimiter') === '') || bucket.emptyUploadLists > 0;
  if (bucket.emptyUploadLists > 0) bucket.emptyUploadLists -= 1;
  const uploads = (isEmpty ? [] : all).map(([id, upload]) => {
    const begun = tag('Initiated', upload.begun.toISOString());
    return tag('Upload', tag('Key', upload.key) + tag('UploadId', id) + begun);
  });
  return xmlOf(tag('ListMultipartUploadsResult', tag('IsTruncated', 'false') + uploads.join('')));
}

function listed(key: string, object: S3Object | undefined): string {
  if (object === undefined) return '';
  const { body, etag, modified } = object;
  const times = tag('LastModified', modified.toISOString());
  return tag('Contents', tag('Key', key) + times + tag('ETag', quoted(etag)) + tag('Size', `${body.length}`));
}

function tokenAfter(key: string): string {
  return Buffer.from(key).toString('base64');
}

function afterToken(token: string | null): string {
  if (token === null) return '';
  const key = Buffer.from(token, 'base64').toString();
  if (token === '' || tokenAfter(key) !== token) throw new S3Refusal(400, 'InvalidArgument');
  return key;
}

function inBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
