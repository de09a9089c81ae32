/** Returns a copy with other bytes at one offset; a negative offset counts from the end. */
export function changed(bytes: Buffer, at: number, ...values: readonly (number | string | Buffer)[]): Buffer {
  const copy = Buffer.from(bytes);
  const piece = Buffer.concat(
    values.map((value) => (typeof value === 'number' ? Buffer.of(value) : Buffer.from(value))),
  );
  piece.copy(copy, at < 0 ? copy.length + at : at);
  return copy;
}

/** Returns a copy with bytes inserted or removed at one offset. */
export function spliced(bytes: Buffer, at: number, removed: number, added: string | Buffer = ''): Buffer {
  const place = at < 0 ? bytes.length + at : at;
  return Buffer.concat([bytes.subarray(0, place), Buffer.from(added), bytes.subarray(place + removed)]);
}

export function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

/** Returns the offset of the directory of a zip without a comment. */
export function directoryOf(zip: Buffer): number {
  return zip.readUInt32LE(zip.length - 6);
}
