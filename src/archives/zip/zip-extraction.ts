import type { ArchiveBytes } from '../archive-bytes.ts';
import { memberPath } from '../members/entry-path.ts';
import type { ContentOutput, WantedMembers } from '../members/member-output.ts';
import { inflated, isSmall, STORED, unpack } from './zip-data.ts';
import { readDirectory, type ZipEntry } from './zip-directory.ts';
import { readEndRecords } from './zip-end-record.ts';
import { LOCAL_HEADER_LENGTH, localLength } from './zip-local-header.ts';
import { zipName } from './zip-name.ts';

/** Reads each wanted entry at its offset in the directory. Resolves to the number of entries read. */
export async function readZipMembers(
  bytes: ArchiveBytes,
  wanted: WantedMembers,
  output: ContentOutput,
): Promise<number> {
  let read = 0;
  const entries = [...readDirectory(bytes, readEndRecords(bytes))].sort((a, b) => a.offset - b.offset);
  for (const entry of entries) {
    const member = wantedEntry(entry, wanted);
    if (!member) continue;
    output.begin(member);
    for await (const piece of unpackedPieces(bytes, entry)) {
      output.data(piece);
      await output.drained();
    }
    output.end();
    read += 1;
  }
  return read;
}

function wantedEntry(entry: ZipEntry, wanted: WantedMembers) {
  const name = zipName(entry.rawName, entry.flags);
  const path = name === undefined || name.endsWith('/') ? undefined : memberPath(name);
  return path === undefined ? undefined : wanted.get(path);
}

function unpackedPieces(bytes: ArchiveBytes, entry: ZipEntry): Iterable<Buffer> | AsyncIterable<Buffer> {
  const header = Buffer.alloc(LOCAL_HEADER_LENGTH);
  bytes.read(header, entry.offset);
  const start = entry.offset + localLength(header);
  const packed = bytes.pieces(start, start + entry.packed);
  if (entry.method === STORED) return packed;
  if (!isSmall(entry)) return inflated(packed, entry);
  const data = Buffer.allocUnsafeSlow(entry.packed);
  bytes.read(data, start);
  return [unpack(data, entry)];
}
