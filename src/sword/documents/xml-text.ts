import { type BodyElement, declaring, escaped, escapedValue } from './xml-body.ts';

/**
 * The same text as `xmlBody`, without building a document for it: for lists, where hundreds of entries would
 * take the builder tenths of a second, during which nobody else is served, and for what is written at each request.
 */
export function xmlText(
  root: BodyElement,
  namespaces: { readonly defaultNamespace: string; readonly depositNamespace: string },
): string {
  return `<?xml version="1.0" encoding="UTF-8"?>${textOf(declaring(root, namespaces))}`;
}

function textOf({ name, attributes, content }: BodyElement): string {
  const values = Object.entries(attributes).map(([key, value]) => ` ${key}="${quotedValue(value)}"`);
  const inner = typeof content === 'string' ? marked(escaped(content)) : content.map(textOf).join('');
  const tag = `${name}${values.join('')}`;
  return inner === '' ? `<${tag}/>` : `<${tag}>${inner}</${name}>`;
}

function quotedValue(value: string): string {
  return marked(escapedValue(value)).replaceAll('"', '&quot;');
}

/** Ampersands have been seen to. */
function marked(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
