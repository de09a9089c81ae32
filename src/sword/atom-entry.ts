import { ATOM } from './namespaces.ts';
import { badRequest, quoted } from './sword-error.ts';
import { type DecodedXml, decodeXml } from './xml-encoding.ts';
import { parseXml, parseXmlInTurns, type XmlElement, type XmlLimits } from './xml-tree.ts';

export type EntryDocument = {
  readonly root: XmlElement;
  /** The encoding it was read in, lower case. */
  readonly encoding: string;
};

type EntryOptions = {
  /** Of the Content-Type. */
  readonly charset?: string | undefined;
  readonly limits?: XmlLimits;
};

/** Reads an Atom entry; anything that is not one is refused with 400 and the reason. */
export function readEntry(bytes: Uint8Array, { charset, limits }: EntryOptions = {}): EntryDocument {
  const { text, encoding } = decoded(bytes, charset);
  return entryOf(parseXml(text, limits), encoding);
}

/** The same, taking turns with others: a long entry takes some hundred milliseconds. */
export async function readEntryInTurns(
  bytes: Uint8Array,
  { charset, limits }: EntryOptions = {},
): Promise<EntryDocument> {
  const { text, encoding } = decoded(bytes, charset);
  return entryOf(await parseXmlInTurns(text, limits), encoding);
}

function decoded(bytes: Uint8Array, charset: string | undefined): DecodedXml {
  if (bytes.length === 0) throw badRequest('The metadata entry is empty.');
  return decodeXml(bytes, charset);
}

function entryOf(root: XmlElement, encoding: string): EntryDocument {
  if (root.ns === ATOM && root.local === 'entry') return { root, encoding };
  const namespace = root.ns === '' ? 'no namespace' : `the namespace ${quoted(root.ns)}`;
  throw badRequest(
    `The metadata must be an entry in the Atom namespace, not ${quoted(root.local)} in ${namespace}.`,
  );
}
