import { type BodyElement, declaring, escaped, escapedValue, type Namespaces } from './xml-body.ts';

/**
 * Renders the same text as `xmlBody` without building a document. For long lists the builder would block the event loop
 * for tenths of a second. Also used for documents rendered with every request.
 */
export function xmlText(root: BodyElement, namespaces: Namespaces): string {
  return `<?xml version="1.0" encoding="UTF-8"?>${elementText(declaring(root, namespaces))}`;
}

/** Renders the same text in pieces, for a root with children: the text of each, which is asked for when it is needed. */
export function* xmlPieces(
  root: BodyElement,
  children: Iterable<string>,
  namespaces: Namespaces,
): Generator<string, void> {
  yield `<?xml version="1.0" encoding="UTF-8"?><${tagOf(declaring(root, namespaces))}>`;
  yield* children;
  yield `</${root.name}>`;
}

/** Returns the text of an element within a document. */
export function elementText(node: BodyElement): string {
  const { name, content } = node;
  let inner = '';
  if (typeof content === 'string') inner = PLAIN.test(content) ? content : escapeMarkup(escaped(content));
  else for (const child of content) inner += elementText(child);
  return inner === '' ? `<${tagOf(node)}/>` : `<${tagOf(node)}>${inner}</${name}>`;
}

function tagOf({ name, attributes }: BodyElement): string {
  let tag = name;
  for (const key of Object.keys(attributes)) tag += ` ${key}="${quotedValue(attributes[key] as string)}"`;
  return tag;
}

/** Text without a character that is escaped: most texts are so, and the test is much faster than replacing. */
const PLAIN = /^[ !#-%'-;=?-~]*$/;

function quotedValue(value: string): string {
  return PLAIN.test(value) ? value : escapeMarkup(escapedValue(value)).replaceAll('"', '&quot;');
}

/** Escapes `<` and `>`; ampersands are escaped already. */
function escapeMarkup(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
