export const ATOM_NS = 'http://www.w3.org/2005/Atom';

/** Elements that pass every check. */
export const complete =
  '<title>Sundial</title><author><name>Ada</name></author><codemeta:url>https://corpus.example/sundial</codemeta:url>';

export function documentOf(content: string, encoding = 'utf-8'): string {
  return `<?xml version="1.0" encoding="${encoding}"?>${content}`;
}

/** Returns a complete entry with additional content. */
export function entryOf(content: string, encoding?: string): string {
  const namespaces = `xmlns="${ATOM_NS}" xmlns:codemeta="https://doi.org/10.5063/SCHEMA/CODEMETA-2.0"`;
  return documentOf(`<entry ${namespaces}>${complete}${content}</entry>`, encoding);
}

/** Returns an empty element as the root. */
export function entryWith(root: string, namespace: string): string {
  return documentOf(`<${root} xmlns="${namespace}"/>`);
}

/** Encodes UTF-16, with or without a byte order mark. */
export function utf16(text: string, order: 'le' | 'be', { mark = true } = {}): Buffer {
  const bytes = Buffer.from((mark ? '\ufeff' : '') + text, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
}
