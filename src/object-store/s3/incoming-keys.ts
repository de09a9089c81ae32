import { hash } from 'node:crypto';
import { type MinioBucket, orMissing } from './bucket.ts';

/**
 * Maximum number of requests for an empty list of uploads: one of four drives may not list any.
 */
const MAX_LISTS = 3;

/** Aborts the incomplete uploads to this key, then removes the key, which is required to find them. */
export async function removeIncoming(bucket: MinioBucket, key: string): Promise<void> {
  for (const uploadId of await uploadsTo(bucket, key)) await abortUpload(bucket, key, uploadId);
  await bucket.remove(key);
}

/** Aborts an upload. No error when it does not exist: another process may have swept it. */
export async function abortUpload(bucket: MinioBucket, key: string, uploadId: string): Promise<void> {
  await bucket.ask('remove', (client) => orMissing(client.abortMultipartUpload(bucket.name, key, uploadId)));
}

/** Puts an object of no bytes in a single request, like every object that is not made of parts. */
export function putEmpty(bucket: MinioBucket, key: string): Promise<void> {
  return putBytes(bucket, key, Buffer.alloc(0));
}

export async function putBytes(bucket: MinioBucket, key: string, bytes: Buffer): Promise<void> {
  const digests = { sha256: hash('sha256', bytes), md5: hash('md5', bytes) };
  await bucket.send(key, { length: bytes.length, digests, open: () => bytes });
}

async function uploadsTo(bucket: MinioBucket, key: string): Promise<string[]> {
  const delimiter = '/'; // Swift finds an empty delimiter in every key, and lists no upload
  for (let look = 0; look < MAX_LISTS; look += 1) {
    const { uploads } = await bucket.ask('sweep', (client) =>
      client.listIncompleteUploadsQuery(bucket.name, key, '', '', delimiter),
    );
    const found = uploads.filter((upload) => upload.key === key);
    if (found.length > 0) return found.map(({ uploadId }) => uploadId);
  }
  return [];
}
