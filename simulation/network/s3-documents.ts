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

/** Only for names and values that need no escaping. */
function tag(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}
