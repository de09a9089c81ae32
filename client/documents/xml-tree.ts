import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { Fault } from '../faults.ts';

/** An element of an answer, without its prefix: servers use different namespaces, and no name has two meanings. */
export type XmlElement = {
  readonly local: string;
  /** By name as written, without namespace declarations. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** All text inside it, including that of its descendants. */
  readonly text: string;
};

/** An answer that cannot be read: the server, or a proxy, does not speak SWORD. */
export class UnreadableAnswer extends Fault {
  override readonly name = 'UnreadableAnswer';
}

const MAX_DEPTH = 30;
const MAX_REASON_CHARACTERS = 200;

/**
 * Parses a server's answer and returns its root element. A DTD is refused, hence only the five entities of XML exist.
 * `what` names the answer in errors.
 * @throws {UnreadableAnswer}
 */
export function readXml(bytes: Uint8Array, what: string): XmlElement {
  try {
    return parse(decode(bytes));
  } catch (cause) {
    const reason = (cause as Error).message.slice(0, MAX_REASON_CHARACTERS); // it may repeat the answer
    throw new UnreadableAnswer(`${what} cannot be read: ${reason}`, { cause });
  }
}

/** Returns the first child with that local name. */
export function child(parent: XmlElement, local: string): XmlElement | undefined {
  return parent.children.find((one) => one.local === local);
}

export function childrenOf(parent: XmlElement, local: string): readonly XmlElement[] {
  return parent.children.filter((one) => one.local === local);
}

/** Returns the trimmed text of the first such child; `null` without one. */
export function textOf(parent: XmlElement, ...locals: readonly string[]): string | null {
  for (const local of locals) {
    const text = child(parent, local)?.text.trim();
    if (text) return text;
  }
  return null;
}

function decode(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 200)).toString('latin1');
  const label = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"'>]*)/.exec(head)?.[1] ?? 'utf-8';
  return new TextDecoder(label, { fatal: true }).decode(bytes);
}

// A node of fast-xml-parser in document order: one key is the tag, and `:@` has the attributes.
type OrderedNode = {
  readonly ':@'?: Readonly<Record<string, string>>;
  readonly '#text'?: string;
  readonly [tag: string]: unknown;
};

function parse(text: string): XmlElement {
  if (/<!DOCTYPE/i.test(text)) throw new Error('it has a DOCTYPE, which is not allowed.');
  const validity = XMLValidator.validate(text);
  if (validity !== true)
    throw new Error(`it is not well-formed XML: line ${validity.err.line}: ${validity.err.msg}`);
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseTagValue: false,
    trimValues: false,
    ignoreDeclaration: true,
    ignorePiTags: true,
    maxNestedTags: MAX_DEPTH,
    entityDecoder: references,
  });
  const nodes = parser.parse(text) as OrderedNode[]; // the form that preserveOrder has
  const roots = elementsOf(nodes);
  const [root, ...more] = roots;
  if (!root || more.length > 0) throw new Error(`it has ${roots.length} root elements.`);
  return root;
}

function elementsOf(nodes: readonly OrderedNode[]): XmlElement[] {
  return nodes.flatMap((node) => {
    const tag = tagOf(node);
    return tag === undefined ? [] : [elementOf(tag, node)];
  });
}

function elementOf(tag: string, node: OrderedNode): XmlElement {
  const content = node[tag] as readonly OrderedNode[];
  const attributes = Object.entries(node[':@'] ?? {}).filter(([name]) => !/^xmlns(?::|$)/.test(name));
  return {
    local: tag.split(':')[1] ?? tag,
    attributes: new Map(attributes),
    children: elementsOf(content),
    text: textIn(content),
  };
}

function textIn(nodes: readonly OrderedNode[]): string {
  return nodes
    .map((node) => {
      const tag = tagOf(node);
      return tag === undefined ? (node['#text'] ?? '') : textIn(node[tag] as readonly OrderedNode[]);
    })
    .join('');
}

function tagOf(node: OrderedNode): string | undefined {
  return Object.keys(node).find((key) => key !== ':@' && key !== '#text');
}

const NAMED = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }));

/** Decodes references. Entities that a document declares are never used. */
const references = {
  decode: (text: string): string => text.replace(/&([^;&\s]{0,12};?)/g, (_, name: string) => character(name)),
  setExternalEntities: () => undefined,
  addInputEntities: () => {
    throw new Error('it declares entities.');
  },
  reset: () => undefined,
  setXmlVersion: () => undefined,
};

function character(reference: string): string {
  const [, decimal, hex] = /^#(?:([0-9]+)|x([0-9a-fA-F]+));$/.exec(reference) ?? [];
  const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : undefined;
  const found = code === undefined ? NAMED.get(reference.replace(/;$/, '')) : textOfCode(code);
  if (found === undefined || !reference.endsWith(';'))
    throw new Error(`it has the unknown reference &${reference}`);
  return found;
}

function textOfCode(code: number): string | undefined {
  const isCharacter = code <= 0x10ffff && (code >= 32 || [9, 10, 13].includes(code));
  return isCharacter && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : undefined;
}
