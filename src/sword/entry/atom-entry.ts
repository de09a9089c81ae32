import { ATOM } from '../namespaces.ts';
import { badRequest, quoted } from '../sword-error.ts';
import type { Steps } from './cooperative.ts';
import { decodeXml } from './xml-encoding.ts';
import { parseXml, type XmlElement, type XmlLimits } from './xml-tree.ts';

export type EntryDocument = {
  readonly root: XmlElement;
  /** Encoding in which it was decoded, in lower case. */
  readonly encoding: string;
};

/**
 * Parses an Atom entry.
 * @param charset that of the Content-Type
 * @throws {SwordError} 400: it is not one, with the reason.
 */
export function* readEntry(
  bytes: Uint8Array,
  charset: string | undefined,
  limits: XmlLimits,
): Steps<EntryDocument> {
  const { text, encoding } = decodeXml(bytes, charset);
  const root = yield* parseXml(text, limits);
  if (root.ns === ATOM && root.local === 'entry') return { root, encoding };
  const namespace = root.ns === '' ? 'no namespace' : `the namespace ${quoted(root.ns)}`;
  throw badRequest(
    `The metadata must be an entry in the Atom namespace, not ${quoted(root.local)} in ${namespace}.`,
  );
}
