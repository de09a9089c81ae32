import { directoryMode, type LeafMode } from '../../swhid/directory.ts';
import { escapePath, unescapePath } from '../../swhid/escape-path.ts';
import type { ArchiveFormat } from '../archive-reader.ts';
import type { ListedLeaf, TreeEntry } from './tree-entry.ts';

const LONGEST_TEXT = 1024 ** 2;

// Both documents are NDJSON with fixed keys in a fixed order, and paths percent-encoded as in SWHIDs: ASCII,
// one line each, and reproducible byte for byte.

type ListingHeader = { readonly format: ArchiveFormat; readonly sha256: string };

/** A file or link of an archive. */
type Member = ListedLeaf & { readonly isArchive: boolean };

/** A member of a listing; `leaf` is `null` for a directory. Paths are latin1 strings of raw bytes here and below. */
type ListedMember = { readonly path: string; readonly leaf: ListedLeaf | null };

type TreeHeader = {
  /** Id of the root directory, 40 hex digits. */
  readonly directory: string;
  readonly files: number;
  readonly bytes: number;
  /** SHA-256 of the archives in upload order. */
  readonly archives: readonly string[];
};

/** Encodes the members of one archive in its order, including explicit directories. */
export function encodeListing(
  { format, sha256 }: ListingHeader,
  members: Iterable<[string, Member | null]>,
): Uint8Array {
  return encodeLines({ listing: 1, format, archive: sha256 }, listingLines(members));
}

function* listingLines(members: Iterable<[string, Member | null]>): Generator<EncodedLine> {
  for (const [path, leaf] of members)
    yield leaf === null ? { path, mode: directoryMode } : { path, ...leaf, archive: leaf.isArchive };
}

/** @throws {Error} the bytes are not a listing. */
export function* decodeListing(bytes: Uint8Array): Generator<ListedMember> {
  const lines = decodeLines(bytes);
  assertListing(lines.next().value);
  for (const line of lines) {
    const { path, mode, id, length, sha256 } = line as EncodedLine;
    const leaf = mode === directoryMode ? null : { mode, id: id!, length: length!, sha256: sha256! };
    yield { path: unescapePath(path), leaf };
  }
}

/** Encodes every path of a deposit's tree, given in the order of their bytes; the root itself is in the header. */
export function encodeTree(header: TreeHeader, entries: Iterable<TreeEntry>): Uint8Array {
  const { directory, files, bytes, archives } = header;
  return encodeLines({ manifest: 1, directory, files, bytes, archives }, entries);
}

/** Decodes one line of a manifest, other than its first. */
export function decodeEntry(line: string): TreeEntry {
  const { path, ...rest } = JSON.parse(line) as TreeEntry;
  return { path: unescapePath(path), ...rest };
}

type EncodedLine = {
  path: string;
  mode: LeafMode | typeof directoryMode;
  id?: string;
  length?: number;
  sha256?: string;
  /** In a listing: whether the member looks like an archive. In a manifest: the SHA-256 of the archive it came from. */
  archive?: boolean | string;
};

function encodeLine({ path, mode, id, length, sha256, archive }: EncodedLine): string {
  // JSON.stringify omits keys with the value undefined.
  return JSON.stringify({ path: escapePath(path), mode, id, length, sha256, archive });
}

/** Encodes lines into a separate buffer. At most one chunk of them exists as text, or twice. */
function encodeLines(header: object, lines: Iterable<EncodedLine>): Uint8Array {
  const pieces: Buffer<ArrayBuffer>[] = [];
  let text = `${JSON.stringify(header)}\n`;
  for (const line of lines) {
    text += `${encodeLine(line)}\n`;
    if (text.length < LONGEST_TEXT) continue;
    pieces.push(encoded(text));
    text = '';
  }
  pieces.push(encoded(text));
  return joined(pieces);
}

function encoded(text: string): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(text.length);
  bytes.write(text, 'latin1');
  return bytes;
}

/** Concatenates the chunks, and frees each as soon as it is copied, before a garbage collection would. */
function joined(pieces: readonly Buffer<ArrayBuffer>[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
    piece.buffer.transfer?.(0); // which Node 20, under the client, does not have
  }
  return bytes;
}

function* decodeLines(bytes: Uint8Array): Generator {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let start = 0; start < buffer.length; ) {
    const end = buffer.indexOf(0x0a, start);
    if (end === -1) throw new Error('The last line of a listing has no end.');
    yield JSON.parse(buffer.toString('latin1', start, end));
    start = end + 1;
  }
}

function assertListing(header: unknown): void {
  const { listing } = Object(header) as { readonly listing?: unknown };
  if (listing !== 1) throw new Error('The bytes are no listing of version 1.');
}
