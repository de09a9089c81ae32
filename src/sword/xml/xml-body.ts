import { ATOM, DCTERMS, SWORD } from '../namespaces.ts';

/** An element with a name without prefix, or with one of `atom`, `sword`, `dcterms` and `depositns`. */
export type BodyElement = {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly content: string | readonly BodyElement[];
};

export function element(
  name: string,
  content: BodyElement['content'] = '',
  attributes: BodyElement['attributes'] = {},
): BodyElement {
  return { name, content, attributes };
}

/** The namespaces of a document that are not the same in all documents. */
export type Namespaces = { readonly defaultNamespace: string; readonly depositNamespace: string };

/** Returns the root with the declarations of all prefixes. */
export function declaring(root: BodyElement, namespaces: Namespaces): BodyElement {
  const declarations = {
    xmlns: namespaces.defaultNamespace,
    'xmlns:atom': ATOM,
    'xmlns:sword': SWORD,
    'xmlns:dcterms': DCTERMS,
    'xmlns:depositns': namespaces.depositNamespace,
  };
  return { ...root, attributes: { ...declarations, ...root.attributes } };
}

/** Escapes an attribute value, including white space, which parsers would turn into spaces. */
export function escapedValue(value: string): string {
  return escaped(value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
}

/** Characters that XML 1.0 forbids even as references, except lone surrogates. */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Returns the first character that XML 1.0 cannot contain, which is replaced in texts. */
export function forbiddenIn(text: string): string | undefined {
  return text.match(FORBIDDEN)?.[0] ?? /\p{Surrogate}/u.exec(text)?.[0];
}

/** Escapes every `&`: xmlbuilder2 leaves texts that look like a reference, as `&#1;` or `&nbsp;`. */
export function escaped(text: string): string {
  // A literal CR would be read as a line feed.
  return text.toWellFormed().replace(FORBIDDEN, '\ufffd').replaceAll('&', '&amp;').replaceAll('\r', '&#13;');
}
