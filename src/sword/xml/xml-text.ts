import { type BodyElement, declaring, escaped, escapedValue } from './xml-body.ts';

/**
 * Renders the same text as `xmlBody` without building a document. For long lists the builder would block the event loop
 * for tenths of a second. Also used for documents rendered with every request.
 */
export function xmlText(
  root: BodyElement,
  namespaces: { readonly defaultNamespace: string; readonly depositNamespace: string },
): string {
  return `<?xml version="1.0" encoding="UTF-8"?>${textOf(declaring(root, namespaces))}`;
}

function textOf({ name, attributes, content }: BodyElement): string {
  const values = Object.entries(attributes).map(([key, value]) => ` ${key}="${quotedValue(value)}"`);
  const inner = typeof content === 'string' ? escapeMarkup(escaped(content)) : content.map(textOf).join('');
  const tag = `${name}${values.join('')}`;
  return inner === '' ? `<${tag}/>` : `<${tag}>${inner}</${name}>`;
}

function quotedValue(value: string): string {
  return escapeMarkup(escapedValue(value)).replaceAll('"', '&quot;');
}

/** Escapes `<` and `>`; ampersands are escaped already. */
function escapeMarkup(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
