import type { LruCache } from '../../tools/lru-cache.ts';
import type { Iris } from '../iris.ts';
import { ATOM } from '../namespaces.ts';
import { type BodyElement, element } from '../xml/xml-body.ts';
import { xmlBody } from '../xml/xml-builder.ts';
import { elementText, xmlPieces, xmlText } from '../xml/xml-text.ts';
import { htmlPieces } from './html-page.ts';

/** The software of this service, named in receipts and errors. */
export type Generator = { readonly name: string; readonly version: string; readonly uri: string };

/** Configuration of documents. */
export type RenderContext = {
  readonly iris: Iris;
  readonly depositNamespace: string;
  readonly generator: Generator;
};

/** A fact of a document: a member in JSON and elements in XML. A fact without a name or without elements is left out there. */
export type Fact = {
  readonly name?: string;
  readonly value?: unknown;
  readonly elements?: readonly BodyElement[];
  /**
   * A group of facts, or several of the same kind, in place of a value and elements. Many are described one by one while
   * the document is rendered, by an iterator, which allows for one rendering.
   */
  readonly parts?: Part | Iterable<Part>;
};

/** Facts that belong together: an object in JSON, an element in XML. */
export type Part = {
  readonly element: string;
  readonly attributes?: Readonly<Record<string, string>>;
  /** Changes with everything that the part shows. Its text may be cached by it: then the facts are not read. */
  readonly key?: string;
  readonly facts: readonly Fact[];
};

/** Rendered texts of parts. */
export type TextCache = Pick<LruCache<string>, 'get' | 'set'>;

/** A document described once for all its representations. */
export type Document = Part & {
  /** Default namespace in XML; Atom if omitted. */
  readonly namespace?: string;
  /** True if it is long or sent with many requests: its XML is then rendered without building a tree. */
  readonly isHot?: boolean;
};

/** Returns a fact that XML has as the text of an element. */
export function text(name: string, value: string | number | boolean, tag = name): Fact {
  return { name, value, elements: [element(tag, String(value))] };
}

/** Returns elements that JSON has not, or in another place. */
export function onlyXml(...elements: readonly BodyElement[]): Fact {
  return { elements };
}

/** Returns members that XML has not, or in another place. */
export function onlyJson(members: Readonly<Record<string, unknown>>): Fact[] {
  return Object.entries(members).map(([name, value]) => ({ name, value }));
}

/**
 * Returns each field twice in XML: in the deposit namespace and, deprecated but read by existing clients, unprefixed in
 * the Atom namespace (interface.md, Versioning, rule 3).
 */
export function depositFields(fields: Readonly<Record<`deposit_${string}`, string | number>>): Fact[] {
  return Object.entries(fields).map(([name, value]) => ({
    name,
    value,
    elements: [element(`depositns:${name}`, String(value)), element(name, String(value))],
  }));
}

export function authorFact(name: string): Fact {
  return { name: 'author', value: { name }, elements: [element('author', [element('name', name)])] };
}

export function generatorFact(generator: Generator): Fact {
  const { name, version, uri } = generator;
  return { name: 'generator', value: generator, elements: [element('generator', name, { uri, version })] };
}

type Link = { readonly rel: string; readonly href: string; readonly type?: string };

/** Returns the links of a document; in XML each has the type `type`, if given. */
export function linksFact(links: readonly Link[], type?: string): Fact {
  const elements = links.map((link) => element('link', '', type === undefined ? link : { ...link, type }));
  return { name: 'links', value: links, elements };
}

export type Format = 'xml' | 'json' | 'html';

/** Renders the document; the same facts in each format. */
export function render(
  document: Document,
  format: Format,
  { depositNamespace }: Pick<RenderContext, 'depositNamespace'>,
): string {
  if (format === 'html') return [...htmlPieces(document)].join('');
  return format === 'xml' ? asXml(document, depositNamespace) : asJson(document);
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
  const rendered = textOf();
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

function asJson({ facts }: Document): string {
  return JSON.stringify(toObject(facts));
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
