import type { LruCache } from '../../tools/lru-cache.ts';
import { ATOM } from '../namespaces.ts';
import { type BodyElement, element } from '../xml/xml-body.ts';
import { xmlBody } from '../xml/xml-builder.ts';
import { elementText, xmlPieces, xmlText } from '../xml/xml-text.ts';
import type { Document, Fact, Part, RenderContext } from './document.ts';
import { htmlPieces } from './html-page.ts';

export type Format = 'xml' | 'json' | 'html';

/** Rendered texts of parts. */
export type TextCache = Pick<LruCache<string>, 'get' | 'set'>;

/** Renders the document; the same facts in each format. */
export function render(
  document: Document,
  format: Format,
  { depositNamespace }: Pick<RenderContext, 'depositNamespace'>,
): string {
  if (format === 'html') return [...htmlPieces(document)].join('');
  return format === 'xml' ? asXml(document, depositNamespace) : JSON.stringify(toObject(document.facts));
}

/** Renders the same text in pieces of one part each, described when they are asked for unless they are in the cache. */
export function renderInPieces(
  document: Document,
  format: Format,
  { depositNamespace }: Pick<RenderContext, 'depositNamespace'>,
  cache?: TextCache,
): Iterable<string> {
  if (format === 'html') return htmlPieces(document);
  if (format === 'json') return jsonPieces(document, cache);
  const { element: name, attributes, facts, namespace: defaultNamespace = ATOM } = document;
  const root = element(name, '', attributes);
  return xmlPieces(root, childTexts(facts, cache), { defaultNamespace, depositNamespace });
}

function* childTexts(facts: readonly Fact[], cache: TextCache | undefined): Iterable<string> {
  for (const { elements = [], parts = [] } of facts) {
    for (const child of elements) yield elementText(child);
    for (const part of isMany(parts) ? parts : [parts])
      yield cachedText(cache, 'xml', part, () => elementText(toElement(part)));
  }
}

function cachedText(
  cache: TextCache | undefined,
  format: Format,
  { key }: Part,
  textOf: () => string,
): string {
  if (cache === undefined || key === undefined) return textOf();
  const known = cache.get(`${format} ${key}`);
  if (known !== undefined) return known;
  // In one piece: a concatenated text keeps its pieces, which take three times as much memory.
  const rendered = Buffer.from(textOf()).toString();
  cache.set(`${format} ${key}`, rendered);
  return rendered;
}

function* jsonPieces({ facts }: Document, cache: TextCache | undefined): Iterable<string> {
  let separator = '{';
  for (const { name, value, parts } of facts) {
    if (name === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    if (parts === undefined) yield JSON.stringify(value);
    else if (!isMany(parts)) yield JSON.stringify(toObject(parts.facts));
    else {
      let between = '[';
      for (const part of parts) {
        yield `${between}${cachedText(cache, 'json', part, () => JSON.stringify(toObject(part.facts)))}`;
        between = ',';
      }
      yield between === '[' ? '[]' : ']';
    }
    separator = ',';
  }
  yield '}';
}

function asXml(document: Document, depositNamespace: string): string {
  const { namespace: defaultNamespace = ATOM, isHot } = document;
  return (isHot ? xmlText : xmlBody)(toElement(document), { defaultNamespace, depositNamespace });
}

/** Returns the element of a document or of a part of it. */
function toElement({ element: name, attributes, facts }: Part): BodyElement {
  const children: BodyElement[] = [];
  for (const { elements = [], parts = [] } of facts) {
    for (const child of elements) children.push(child);
    for (const part of isMany(parts) ? parts : [parts]) children.push(toElement(part));
  }
  return element(name, children, attributes);
}

function toObject(facts: readonly Fact[]): Readonly<Record<string, unknown>> {
  const members = facts.flatMap(({ name, value, parts }) =>
    name === undefined ? [] : [[name, parts === undefined ? value : objectsOf(parts)] as const],
  );
  return Object.fromEntries(members);
}

function objectsOf(parts: Part | Iterable<Part>): unknown {
  return isMany(parts) ? Array.from(parts, ({ facts }) => toObject(facts)) : toObject(parts.facts);
}

function isMany(parts: Part | Iterable<Part>): parts is Iterable<Part> {
  return Symbol.iterator in parts;
}
