import type { Iris } from '../iris.ts';
import { type BodyElement, element } from '../xml/xml-body.ts';

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

/** Returns a fact that XML has as an element for each of its texts. */
export function texts(name: string, value: readonly string[], tag: string): Fact {
  return { name, value, elements: value.map((one) => element(tag, one)) };
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
 * the Atom namespace (interface.md, Answers).
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

export type Link = { readonly rel: string; readonly href: string; readonly type?: string };

/** Returns the links of a document; in XML each has the type `type`, if given. */
export function linksFact(links: readonly Link[], type?: string): Fact {
  const elements = links.map((link) => element('link', '', type === undefined ? link : { ...link, type }));
  return { name: 'links', value: links, elements };
}
