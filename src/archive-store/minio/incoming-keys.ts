import { hash } from 'node:crypto';
import { type MinioBucket, orMissing } from './bucket.ts';

/** How often an empty list of uploads is asked for: one of four drives may answer that there are none. */
const LOOKS = 3;

/** Ends the uploads to this key that were never completed, then removes the key, by which alone they are found. */
export async function removeIncoming(bucket: MinioBucket, key: string): Promise<void> {
  for (const uploadId of await uploadsTo(bucket, key)) await abortUpload(bucket, key, uploadId);
  await bucket.remove(key);
}

/** No error when the upload is gone: another process that sweeps may have been quicker. */
export async function abortUpload(bucket: MinioBucket, key: string, uploadId: string): Promise<void> {
  await bucket.ask('remove', (client) => orMissing(client.abortMultipartUpload(bucket.name, key, uploadId)));
}

/** An object of no bytes, as every object that is not made of parts. */
export function putEmpty(bucket: MinioBucket, key: string): Promise<void> {
  return putBytes(bucket, key, Buffer.alloc(0));
}

export async function putBytes(bucket: MinioBucket, key: string, bytes: Buffer): Promise<void> {
  const digests = { sha256: hash('sha256', bytes), md5: hash('md5', bytes) };
  await bucket.send(key, { length: bytes.length, digests, open: () => bytes });
}

async function uploadsTo(bucket: MinioBucket, key: string): Promise<string[]> {
  const delimiter = '/'; // Swift finds an empty one in every key, and lists no upload
  for (let look = 0; look < LOOKS; look += 1) {
    const { uploads } = await bucket.ask('sweep', (client) =>
      client.listIncompleteUploadsQuery(bucket.name, key, '', '', delimiter),
    );
    const found = uploads.filter((upload) => upload.key === key);
    if (found.length > 0) return found.map(({ uploadId }) => uploadId);
  }
  return [];
}
