import { createRequire } from 'node:module';
import type * as xmlbuilder2 from 'xmlbuilder2';
import { type BodyElement, declaring, escaped, escapedValue, type Namespaces } from './xml-body.ts';

const require = createRequire(import.meta.url);

/**
 * Renders the document as text, to be sent as UTF-8. Declares all prefixes on the root, since some clients find
 * elements by prefix. The result is well-formed for any texts.
 */
export function xmlBody(root: BodyElement, namespaces: Namespaces): string {
  // Loaded with the first document that needs it: it is large, and most documents do without.
  const { create } = require('xmlbuilder2') as typeof xmlbuilder2;
  const document = create({ version: '1.0', encoding: 'UTF-8' });
  append(document, declaring(root, namespaces));
  return document.end();
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
