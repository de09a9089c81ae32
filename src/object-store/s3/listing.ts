import { unavailable } from '../store-errors.ts';
import type { KeptObject, MinioBucket } from './bucket.ts';
import { notS3 } from './s3-errors.ts';

export type ListedKey = Omit<KeptObject, 'etag'> & { readonly key: string };

/** Yields every object whose key has the prefix, page by page. */
export async function* listed(bucket: MinioBucket, prefix: string): AsyncGenerator<ListedKey> {
  for (let token = '', more = true; more; ) {
    const page = await bucket.ask('list', (client) =>
      client.listObjectsV2Query(bucket.name, prefix, token, '', 1000, ''),
    );
    more = page.isTruncated;
    if (more && (!page.nextContinuationToken || page.nextContinuationToken === token)) {
      throw unavailable('list', notS3('a list that goes on but does not say where'));
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
