export type ListedKey = {
  readonly key: string;
  readonly modified: Date;
  readonly etag: string;
  readonly size: number;
};

export function errorDocument(code: string): string {
  return tag('Error', tag('Code', code) + tag('Message', 'refused'));
}

/** Returns one entry of a list. */
export function contentsOf({ key, modified, etag, size }: ListedKey): string {
  const facts =
    tag('Key', key) + tag('LastModified', modified.toISOString()) + tag('ETag', `&quot;${etag}&quot;`);
  return tag('Contents', facts + tag('Size', String(size)));
}

/** Returns the answer to a list of objects (version 2) that ends here. */
export function listDocument(contents: readonly string[]): string {
  return tag('ListBucketResult', tag('IsTruncated', 'false') + contents.join(''));
}

/** Returns the answer to the beginning of an upload in parts. */
export function begunDocument(bucket: string, key: string, id: string): string {
  const names = tag('Bucket', bucket) + tag('Key', key);
  return tag('InitiateMultipartUploadResult', names + tag('UploadId', id));
}

/** Returns the answer to the completion of an upload. */
export function completedDocument(bucket: string, key: string, etag: string): string {
  const names = tag('Location', `/${bucket}/${key}`) + tag('Bucket', bucket) + tag('Key', key);
  return tag('CompleteMultipartUploadResult', names + tag('ETag', `&#34;${etag}&#34;`));
}

export function copiedDocument({ modified, etag }: Pick<ListedKey, 'modified' | 'etag'>): string {
  const facts = tag('LastModified', modified.toISOString()) + tag('ETag', `&#34;${etag}&#34;`);
  return tag('CopyObjectResult', facts);
}

/** Returns the answer to a list of the uploads to a key. */
export function uploadsDocument(uploads: readonly { readonly key: string; readonly id: string }[]): string {
  const listed = uploads.map(({ key, id }) => tag('Upload', tag('Key', key) + tag('UploadId', id)));
  return tag('ListMultipartUploadsResult', tag('IsTruncated', 'false') + listed.join(''));
}

/** Only for names and values that need no escaping. */
function tag(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}
