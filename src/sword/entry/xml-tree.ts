import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import { badRequest, type SwordError } from '../sword-error.ts';
import type { Steps } from './cooperative.ts';
import { hiddenMistake } from './hidden-mistake.ts';

/** An element of a client's document, with its prefixes resolved. */
export type XmlElement = {
  /** Namespace; empty if it has none. */
  readonly ns: string;
  readonly local: string;
  /** Attributes by local name or `{namespace}local`, without namespace declarations. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** All text in it, including that of its descendants, in document order. */
  readonly text: string;
};

export type XmlLimits = {
  readonly depth: number;
  readonly elements: number;
  /** Number of attributes of one element, including namespace declarations. */
  readonly attributes: number;
  /** Characters of one attribute's value. */
  readonly attributeLength: number;
};

/**
 * Parses a document and returns its root element. Rejects DTDs, so only XML's five entities exist, and malformed text,
 * with its line.
 */
export function* parseXml(text: string, limits: XmlLimits): Steps<XmlElement> {
  const parser = new TreeParser(text, limits);
  for (let start = 0; start < text.length; start += SLICE) {
    parser.write(text.slice(start, start + SLICE));
    yield;
  }
  return parser.end();
}

/** Yields all elements below one, in document order. */
export function* descendants({ children }: XmlElement): Generator<XmlElement> {
  const open = [children.values()];
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const { value: element, done } = level.next();
    if (done) open.pop();
    else {
      yield element;
      open.push(element.children.values());
    }
  }
}

/** Returns the children with one of these names in one of these namespaces. */
export function childrenOf(
  parent: XmlElement,
  namespaces: readonly string[],
  ...locals: string[]
): readonly XmlElement[] {
  return parent.children.filter(({ ns, local }) => locals.includes(local) && namespaces.includes(ns));
}

/** Number of characters parsed in one step. */
const SLICE = 8192;

type OpenElement = XmlElement & { readonly children: XmlElement[]; text: string };

const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();
const XMLNS = 'http://www.w3.org/2000/xmlns/';

class TreeParser {
  // XML 1.1 would allow control characters; by XML 1.0, a document of any 1.x is read as 1.0.
  readonly #parser = new SaxesParser({ xmlns: true, forceXMLVersion: true, defaultXMLVersion: '1.0' });
  readonly #limits: XmlLimits;
  readonly #open: OpenElement[] = [];
  #root: XmlElement | undefined;
  #elements = 0;
  #attributes = 0;

  /** `whole` is the complete text, in which mistakes are located. */
  constructor(whole: string, limits: XmlLimits) {
    this.#limits = limits;
    const parser = this.#parser;
    parser.on('error', ({ message }) => {
      const mistake = hiddenMistake(whole, parser.position);
      if (mistake) throw refusal(...mistake);
      throw this.#refusal(`is not well-formed XML: ${shortened(message.replace(/^\d+:\d+: /, ''))}`);
    });
    parser.on('doctype', () => {
      throw this.#refusal('has a DOCTYPE, which is not allowed here.');
    });
    parser.on('opentagstart', () => this.#begin());
    parser.on('attribute', ({ value }) => this.#count(value));
    parser.on('opentag', (tag) => this.#push(tag));
    parser.on('text', (text) => this.#append(text));
    parser.on('cdata', (text) => this.#append(text));
    parser.on('closetag', () => this.#pop());
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  end(): XmlElement {
    this.#parser.close();
    if (!this.#root) throw this.#refusal('has no element.');
    return this.#root;
  }

  #begin(): void {
    const { depth, elements } = this.#limits;
    this.#attributes = 0;
    this.#elements += 1;
    if (this.#open.length >= depth) throw this.#refusal(`has elements nested deeper than ${depth}.`);
    if (this.#elements > elements) throw this.#refusal(`has more than ${elements} elements.`);
  }

  #count(value: string): void {
    const { attributes, attributeLength } = this.#limits;
    this.#attributes += 1;
    if (this.#attributes > attributes)
      throw this.#refusal(`has more than ${attributes} attributes on one element.`);
    if (value.length > attributeLength) {
      throw this.#refusal(`has an attribute longer than ${attributeLength} characters.`);
    }
  }

  #push({ uri, local, attributes }: SaxesTagNS): void {
    const element = { ns: uri, local, attributes: attributesOf(attributes), children: [], text: '' };
    this.#open.at(-1)?.children.push(element);
    this.#root ??= element;
    this.#open.push(element);
  }

  #append(text: string): void {
    const element = this.#open.at(-1);
    if (element) element.text += text;
  }

  #pop(): void {
    const closed = this.#open.pop();
    if (closed) this.#append(closed.text);
  }

  #refusal(predicate: string): SwordError {
    return refusal(this.#parser.line, predicate);
  }
}

function refusal(line: number, predicate: string): SwordError {
  return badRequest(`Line ${line} of the entry ${predicate}`);
}

/** Shortens the parser's messages, which repeat names that may be as long as the document, and corrects some. */
function shortened(message: string): string {
  // Of these, the parser omits the names that it expects, or names one of several.
  if (/^expected (?:one of|the name) /.test(message))
    return 'the XML declaration has only version, encoding and standalone, in this order.';
  return message.length <= 100 ? message : `${message.slice(0, 99).toWellFormed()}…`;
}

function attributesOf(attributes: Readonly<Record<string, SaxesAttributeNS>>): ReadonlyMap<string, string> {
  const own = Object.values(attributes).filter(({ uri }) => uri !== XMLNS);
  if (own.length === 0) return NO_ATTRIBUTES;
  return new Map(own.map(({ uri, local, value }) => [uri === '' ? local : `{${uri}}${local}`, value]));
}
