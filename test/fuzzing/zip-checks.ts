import { crc32, inflateRawSync } from 'node:zlib';

/** Corrects CRCs and unpacked sizes of a zip's entries, if its directory still leads to them. */
export function withCrcs(zip: Buffer): Buffer {
  for (let at = zip.indexOf('PK\x01\x02'); at !== -1; at = zip.indexOf('PK\x01\x02', at + 4)) {
    if (at + 46 <= zip.length) mend(zip, at, zip.readUInt32LE(at + 42));
  }
  return zip;
}

function mend(zip: Buffer, central: number, local: number): void {
  if (local + 30 > zip.length) return;
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const packed = zip.subarray(start, start + zip.readUInt32LE(central + 20));
  const data = zip.readUInt16LE(central + 10) === 0 ? packed : inflated(packed);
  if (data === undefined) return;
  // With bit 3 the local header leaves them to a descriptor.
  const isPostponed = (zip.readUInt16LE(local + 6) & 8) !== 0;
  for (const field of isPostponed ? [central + 16] : [central + 16, local + 14]) {
    zip.writeUInt32LE(crc32(data), field);
    zip.writeUInt32LE(data.length, field + 8);
  }
}

function inflated(packed: Buffer): Buffer | undefined {
  try {
    return inflateRawSync(packed, { maxOutputLength: 1024 ** 2 });
  } catch {
    return undefined;
  }
}
