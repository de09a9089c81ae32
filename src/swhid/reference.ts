import { InvalidSwhid, parseQualifiedSwhid, type Swhid } from './swhid.ts';

/**
 * Parses a SWHID that refers to an object. Its qualifiers must also be consistent with each other.
 * @throws {InvalidSwhid}
 */
export function parseReference(text: string): Swhid {
  const swhid = parseQualifiedSwhid(text);
  const wrong = contradictionIn(swhid);
  if (wrong !== undefined) throw new InvalidSwhid(`“${text}” ${wrong}.`);
  return swhid;
}

function contradictionIn({ type, qualifiers }: Swhid): string | undefined {
  const { visit, anchor, path, lines, bytes } = qualifiers;
  if (visit && anchor?.type === 'snp') return 'has a snapshot as anchor beside a visit, which is one already';
  if (path !== undefined && type !== 'cnt' && type !== 'dir') {
    return `has a path, which only a content or a directory can have, not the type ${type}`;
  }
  if (lines && type !== 'cnt') return `has lines, which only a content can have, not the type ${type}`;
  if (bytes && type !== 'cnt') return `has bytes, which only a content can have, not the type ${type}`;
  if (lines?.last !== undefined && lines.last < lines.first) return 'has lines that end before they begin';
  if (bytes?.last !== undefined && bytes.last < bytes.first) return 'has bytes that end before they begin';
  return undefined;
}
