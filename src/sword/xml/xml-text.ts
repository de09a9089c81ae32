import { type BodyElement, declaring, escaped, escapedValue } from './xml-body.ts';

/**
 * Renders the same text as `xmlBody` without building a document. For long lists the builder would block the event loop
 * for tenths of a second. Also used for documents rendered with every request.
 */
export function xmlText(
  root: BodyElement,
  namespaces: { readonly defaultNamespace: string; readonly depositNamespace: string },
): string {
  return `<?xml version="1.0" encoding="UTF-8"?>${elementText(declaring(root, namespaces))}`;
}

/** Renders the same text in pieces, for a root with children: the text of each, which is asked for when it is needed. */
export function* xmlPieces(
  root: BodyElement,
  children: Iterable<string>,
  namespaces: { readonly defaultNamespace: string; readonly depositNamespace: string },
): Generator<string, void> {
  yield `<?xml version="1.0" encoding="UTF-8"?><${tagOf(declaring(root, namespaces))}>`;
  yield* children;
  yield `</${root.name}>`;
}

/** Returns the text of an element within a document. */
export function elementText(node: BodyElement): string {
  const { name, content } = node;
  const inner =
    typeof content === 'string' ? escapeMarkup(escaped(content)) : content.map(elementText).join('');
  return inner === '' ? `<${tagOf(node)}/>` : `<${tagOf(node)}>${inner}</${name}>`;
}

function tagOf({ name, attributes }: BodyElement): string {
  const values = Object.entries(attributes).map(([key, value]) => ` ${key}="${quotedValue(value)}"`);
  return `${name}${values.join('')}`;
}

function quotedValue(value: string): string {
  return escapeMarkup(escapedValue(value)).replaceAll('"', '&quot;');
}

/** Escapes `<` and `>`; ampersands are escaped already. */
function escapeMarkup(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
