import { createRequire } from 'node:module';
import type * as xmlbuilder2 from 'xmlbuilder2';
import { ATOM, DCTERMS, SWORD } from '../namespaces.ts';

const require = createRequire(import.meta.url);

/** An element of a body we write. The prefix of `name` is one of `atom`, `sword`, `dcterms`, `depositns`, or none. */
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

/**
 * The document as text, to be sent as UTF-8. The prefixes are declared on the root whether used or not, since
 * some clients find elements by prefix. Whatever the texts hold, the document is well-formed.
 */
export function xmlBody(
  root: BodyElement,
  namespaces: { readonly defaultNamespace: string; readonly depositNamespace: string },
): string {
  // Loaded when the first document needs it: it is large, and most documents are written without it.
  const { create } = require('xmlbuilder2') as typeof xmlbuilder2;
  const document = create({ version: '1.0', encoding: 'UTF-8' });
  append(document, declaring(root, namespaces));
  return document.end();
}

/** The root with the declarations of all prefixes. */
export function declaring(
  root: BodyElement,
  namespaces: { readonly defaultNamespace: string; readonly depositNamespace: string },
): BodyElement {
  const declarations = {
    xmlns: namespaces.defaultNamespace,
    'xmlns:atom': ATOM,
    'xmlns:sword': SWORD,
    'xmlns:dcterms': DCTERMS,
    'xmlns:depositns': namespaces.depositNamespace,
  };
  return { ...root, attributes: { ...declarations, ...root.attributes } };
}

function append(
  parent: ReturnType<typeof xmlbuilder2.create>,
  { name, attributes, content }: BodyElement,
): void {
  const node = parent.ele(name, escapedValues(attributes));
  if (typeof content !== 'string') for (const child of content) append(node, child);
  else if (content !== '') node.txt(escaped(content));
}

function escapedValues(attributes: Readonly<Record<string, string>>): Record<string, string> {
  const values = Object.entries(attributes).map(([name, value]) => [name, escapedValue(value)]);
  return Object.fromEntries(values);
}

/** Parsers turn literal white space in attributes into spaces. */
export function escapedValue(value: string): string {
  return escaped(value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
}

/** What XML 1.0 forbids even as a character reference, lone surrogates aside. */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/**
 * xmlbuilder2 escapes `<`, `>` and `"`, but leaves whatever looks like a reference (`&#1;`, `&nbsp;`) as it is:
 * with every `&` escaped beforehand nothing in the text can look like one.
 */
export function escaped(text: string): string {
  return text.toWellFormed().replace(FORBIDDEN, '\ufffd').replaceAll('&', '&amp;').replaceAll('\r', '&#13;'); // a literal one would be read as a line feed
}
