import { crc32, deflateRawSync } from 'node:zlib';

/** One entry of a zip; fields that are not given are those of a correct writer. */
export type ZipSpec = {
  readonly name: string | Buffer;
  readonly data?: string | Buffer;
  readonly method?: number;
  readonly flags?: number;
  /** Unix mode with its type bits, as the upper half of the external attributes. */
  readonly mode?: number;
  /** Bytes in the archive instead of the packed data. */
  readonly packed?: Buffer;
  /** CRC in both headers. */
  readonly crc?: number;
  readonly size?: number;
  /** Fields of only the local or only the central header. */
  readonly local?: Partial<ZipHeaders>;
  readonly central?: Partial<ZipHeaders>;
  /** Sizes in a zip64 field, in both headers. */
  readonly zip64?: boolean;
  /** Whether local sizes are zero and follow the data, with or without a signature, in 4 or 8 bytes each. */
  readonly descriptor?: { readonly signature: boolean; readonly bytes: 4 | 8; readonly crc?: number };
  /** Bytes between the data and the next entry. */
  readonly after?: Buffer;
  /** Extra fields of the central header, after the zip64 one. */
  readonly extra?: Buffer;
  /** Offset of the local header in the directory. */
  readonly offset?: number;
};

type ZipHeaders = {
  name: string | Buffer;
  flags: number;
  method: number;
  crc: number;
  packed: number;
  unpacked: number;
};

export type ZipEnd = {
  readonly comment?: Buffer;
  readonly count?: number;
  readonly start?: number;
  readonly length?: number;
  /** Whether it has the zip64 end record and its locator. */
  readonly zip64?: boolean;
};

/** Returns a zip, built byte by byte, so that anything in it can be wrong. */
export function zipOf(specs: readonly ZipSpec[], end: ZipEnd = {}): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const spec of specs) {
    const headers = headersOf(spec);
    const local = localEntry(spec, headers);
    centrals.push(centralHeader(spec, headers, spec.offset ?? offset));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(centrals);
  return Buffer.concat([...locals, directory, endRecords(specs.length, offset, directory.length, end)]);
}

type PackedHeaders = ZipHeaders & { readonly body: Buffer };

function headersOf(spec: ZipSpec): PackedHeaders {
  const data = Buffer.from(spec.data ?? '');
  const method = spec.method ?? (data.length > 0 ? 8 : 0);
  const body = spec.packed ?? (method === 8 ? deflateRawSync(data) : data);
  return {
    name: spec.name,
    flags: spec.flags ?? (spec.descriptor ? 0x0808 : 0x0800),
    method,
    crc: spec.crc ?? crc32(data),
    packed: body.length,
    unpacked: spec.size ?? data.length,
    body,
  };
}

function localEntry(spec: ZipSpec, { body, ...honest }: PackedHeaders): Buffer {
  const postponed = spec.descriptor && { crc: 0, packed: 0, unpacked: 0 };
  const said = { ...honest, ...postponed, ...spec.local };
  const name = Buffer.from(said.name);
  const extra = spec.zip64 ? zip64Field([said.unpacked, said.packed]) : Buffer.alloc(0);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(said.flags, 6);
  header.writeUInt16LE(said.method, 8);
  header.writeUInt32LE(said.crc, 14);
  header.writeUInt32LE(spec.zip64 ? 0xffffffff : said.packed, 18);
  header.writeUInt32LE(spec.zip64 ? 0xffffffff : said.unpacked, 22);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([
    header,
    name,
    extra,
    body,
    descriptorOf(spec, honest),
    spec.after ?? Buffer.alloc(0),
  ]);
}

function centralHeader(spec: ZipSpec, headers: PackedHeaders, offset: number): Buffer {
  const said = { ...headers, ...spec.central };
  const name = Buffer.from(said.name);
  const zip64 = spec.zip64 ? zip64Field([said.unpacked, said.packed, offset]) : Buffer.alloc(0);
  const extra = Buffer.concat([zip64, spec.extra ?? Buffer.alloc(0)]);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE((3 << 8) | 20, 4);
  header.writeUInt16LE(20, 6);
  header.writeUInt16LE(said.flags, 8);
  header.writeUInt16LE(said.method, 10);
  header.writeUInt32LE(said.crc, 16);
  header.writeUInt32LE(spec.zip64 ? 0xffffffff : said.packed, 20);
  header.writeUInt32LE(spec.zip64 ? 0xffffffff : said.unpacked, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt32LE(((spec.mode ?? 0o100644) << 16) >>> 0, 38);
  header.writeUInt32LE(spec.zip64 ? 0xffffffff : offset, 42);
  return Buffer.concat([header, name, extra]);
}

function descriptorOf({ descriptor }: ZipSpec, { crc, packed, unpacked }: ZipHeaders): Buffer {
  if (!descriptor) return Buffer.alloc(0);
  const sizes = Buffer.alloc(4 + 2 * descriptor.bytes);
  sizes.writeUInt32LE(descriptor.crc ?? crc, 0);
  sizes.writeUInt32LE(packed, 4);
  sizes.writeUInt32LE(unpacked, 4 + descriptor.bytes);
  return Buffer.concat([Buffer.from(descriptor.signature ? 'PK\x07\x08' : '', 'latin1'), sizes]);
}

function zip64Field(values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * values.length);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return field;
}

function endRecords(count: number, start: number, length: number, end: ZipEnd): Buffer {
  const said = { count: end.count ?? count, start: end.start ?? start, length: end.length ?? length };
  const comment = end.comment ?? Buffer.alloc(0);
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x06054b50, 0);
  record.writeUInt16LE(end.zip64 ? 0xffff : said.count, 8);
  record.writeUInt16LE(end.zip64 ? 0xffff : said.count, 10);
  record.writeUInt32LE(end.zip64 ? 0xffffffff : said.length, 12);
  record.writeUInt32LE(end.zip64 ? 0xffffffff : said.start, 16);
  record.writeUInt16LE(comment.length, 20);
  return Buffer.concat([end.zip64 ? zip64Records(said, start + length) : Buffer.alloc(0), record, comment]);
}

function zip64Records(
  { count, start, length }: { count: number; start: number; length: number },
  at: number,
): Buffer {
  const records = Buffer.alloc(56 + 20);
  records.writeUInt32LE(0x06064b50, 0);
  records.writeBigUInt64LE(44n, 4);
  records.writeBigUInt64LE(BigInt(count), 24);
  records.writeBigUInt64LE(BigInt(count), 32);
  records.writeBigUInt64LE(BigInt(length), 40);
  records.writeBigUInt64LE(BigInt(start), 48);
  records.writeUInt32LE(0x07064b50, 56);
  records.writeBigUInt64LE(BigInt(at), 64);
  records.writeUInt32LE(1, 72);
  return records;
}

export type TarSpec = {
  readonly name: string | Buffer;
  readonly data?: string | Buffer;
  readonly type?: string;
  readonly mode?: number;
  readonly linkName?: string;
  /** The size in the header; octal, unless given as the 12 bytes of the field. */
  readonly size?: number | Buffer;
  readonly prefix?: string;
  readonly magic?: string;
};

/** Returns a tar of these headers and data, with its end marker. */
export function tarOf(specs: readonly TarSpec[]): Buffer {
  return Buffer.concat([...specs.map(tarMember), Buffer.alloc(1024)]);
}

/** Returns a member without anything after it. */
export function tarMember(spec: TarSpec): Buffer {
  const data = Buffer.from(spec.data ?? '');
  const header = Buffer.alloc(512);
  Buffer.from(spec.name).copy(header, 0, 0, 100);
  header.write(`${octal(spec.mode ?? 0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100);
  if (typeof spec.size === 'object') spec.size.copy(header, 124);
  else header.write(`${octal(spec.size ?? data.length, 11)}\0`, 124);
  header.write(`${octal(0, 11)}\0        ${spec.type ?? '0'}`, 136);
  header.write(spec.linkName ?? '', 157);
  header.write(spec.magic ?? 'ustar\x0000', 257);
  header.write(spec.prefix ?? '', 345);
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${octal(sum, 6)}\0 `, 148);
  return Buffer.concat([header, data, Buffer.alloc((512 - (data.length % 512)) % 512)]);
}

/** Returns the extended header before one member (`x`), or before all that follow (`g`). */
export function paxHeader(records: { readonly [key: string]: string }, type: 'x' | 'g' = 'x'): TarSpec {
  return { name: 'pax', type, data: Buffer.concat(Object.entries(records).map(paxRecord)) };
}

function paxRecord([key, value]: [string, string]): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  const digits = [1, 2, 3, 4, 5, 6].find((count) => String(rest + count).length === count);
  return Buffer.from(`${rest + (digits ?? 0)} ${key}=${value}\n`);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** Decodes the archives of a table, which other programs packed. */
export function decodedTable(base64: Readonly<Record<string, string>>): Readonly<Record<string, Buffer>> {
  return Object.fromEntries(
    Object.entries(base64).map(([name, text]) => [name, Buffer.from(text, 'base64')]),
  );
}
