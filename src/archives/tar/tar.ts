import { corrupt, Unreadable } from '../faults.ts';
import { sanitizeName } from '../members/sanitize-name.ts';
import { type PaxRecords, parsePax } from './pax.ts';
import { BLOCK_LENGTH, hasTarChecksum, isZero, OCTAL_SIZES, paddingOf } from './tar-block.ts';
import { parseTarHeader, type TarHeader } from './tar-header.ts';

/** Receives the members in order; `data` is called only between `member` and `end`. */
export interface TarSink {
  /** Reports an extended header or a long name of `size` bytes, which is not a member. */
  extension?(header: TarHeader): void;
  /** Reports a long name without a NUL that goes on behind its size: GNU tar and Python read on, others do not. */
  openName?(name: string): void;
  member(header: TarHeader): void;
  data?(piece: Buffer): void;
  end?(): void;
}

const longestExtension = { L: 64 * 1024, K: 64 * 1024, x: 1024 ** 2, g: 1024 ** 2 };
type ExtensionType = keyof typeof longestExtension;

/**
 * Reads a tar from chunks of any length: v7, ustar, GNU long names and pax headers. Buffers only one header and the
 * extended headers of one member; the sink gets the memory of the chunks. A fault is thrown as {@link Unreadable}.
 */
export class TarReader {
  readonly #sink: TarSink;
  readonly #block = Buffer.alloc(BLOCK_LENGTH);
  #blockFilled = 0;
  /** Whether there was a header. The first block of a plain tar always is one: its format is recognized by that. */
  #isRecognized = false;
  #state: 'header' | 'data' | 'padding' | 'ended' = 'header';
  /** Bytes of data or padding still to be read. */
  #remaining = 0;
  #padding = 0;
  #extension: { readonly type: ExtensionType; readonly body: Buffer; filled: number } | undefined;
  #global: PaxRecords = {};
  /** Values of extension headers for the next member. */
  #next: { pax?: PaxRecords; name?: string; linkName?: string } = {};
  /** A long name without a NUL at its end, whose padding follows. */
  #openName: string | undefined;

  constructor(sink: TarSink) {
    this.#sink = sink;
  }

  push(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) at = this.#step(piece, at);
  }

  /** Must be called after the last chunk; throws if the tar is truncated. Returns whether there was an end marker. */
  finish(): boolean {
    if (this.#state === 'ended') return true;
    if (this.#state !== 'header' || this.#blockFilled > 0)
      throw this.#isRecognized ? corrupt('TRUNCATED', 'the tar is truncated') : notTar();
    this.#assertNoOrphan();
    return false;
  }

  #step(piece: Buffer, at: number): number {
    switch (this.#state) {
      case 'header':
        return this.#readHeader(piece, at);
      case 'data':
        return this.#readData(piece, at);
      case 'padding':
        return this.#skipPadding(piece, at);
      case 'ended':
        if (!isZero(piece.subarray(at)))
          throw corrupt('TRAILING_BYTES', 'there are trailing bytes after the end of the tar');
        return piece.length;
    }
  }

  #readHeader(piece: Buffer, at: number): number {
    if (this.#blockFilled === 0 && piece.length - at >= BLOCK_LENGTH) {
      this.#takeHeader(piece.subarray(at, at + BLOCK_LENGTH));
      return at + BLOCK_LENGTH;
    }
    const part = piece.subarray(at, at + BLOCK_LENGTH - this.#blockFilled);
    part.copy(this.#block, this.#blockFilled);
    this.#blockFilled += part.length;
    if (this.#blockFilled === BLOCK_LENGTH) {
      this.#blockFilled = 0;
      this.#takeHeader(this.#block);
    }
    return at + part.length;
  }

  #takeHeader(block: Buffer): void {
    if (isZero(block)) {
      this.#assertNoOrphan();
      this.#state = 'ended';
      return;
    }
    if (!hasTarChecksum(block))
      throw this.#isRecognized ? corrupt('CORRUPT', 'a header of the tar has a wrong checksum') : notTar();
    this.#isRecognized = true;
    const header = parseTarHeader(block);
    if (isExtension(header.type)) return this.#beginExtension(header.type, header);
    const member = this.#resolve(header);
    this.#sink.member(member);
    this.#begin(member.size);
  }

  #begin(size: number): void {
    this.#remaining = size;
    this.#padding = paddingOf(size);
    this.#state = 'data';
    if (size === 0) this.#endData();
  }

  #readData(piece: Buffer, at: number): number {
    const part = piece.subarray(at, at + Math.min(this.#remaining, piece.length - at));
    if (this.#extension) this.#extension.filled += part.copy(this.#extension.body, this.#extension.filled);
    else this.#sink.data?.(part);
    this.#remaining -= part.length;
    if (this.#remaining === 0) this.#endData();
    return at + part.length;
  }

  #endData(): void {
    if (this.#extension) this.#endExtension();
    else this.#sink.end?.();
    this.#remaining = this.#padding;
    this.#state = this.#padding === 0 ? 'header' : 'padding';
  }

  #skipPadding(piece: Buffer, at: number): number {
    if (this.#openName !== undefined && piece[at] !== 0) this.#sink.openName?.(this.#openName);
    this.#openName = undefined;
    const length = Math.min(this.#remaining, piece.length - at);
    this.#remaining -= length;
    if (this.#remaining === 0) this.#state = 'header';
    return at + length;
  }

  #beginExtension(type: ExtensionType, header: TarHeader): void {
    const { size } = header;
    const limit = longestExtension[type];
    if (size > limit) {
      const what = type === 'L' || type === 'K' ? 'a long name' : 'an extended (pax) header';
      throw corrupt('NAME_TOO_LONG', `${what} of the tar is too long: ${size} bytes; the limit is ${limit}`);
    }
    this.#sink.extension?.(header);
    this.#extension = { type, body: Buffer.alloc(size), filled: 0 };
    this.#begin(size);
  }

  #endExtension(): void {
    const { type, body } = this.#extension!;
    this.#extension = undefined;
    const key = ({ L: 'name', K: 'linkName', x: 'pax', g: undefined } as const)[type];
    if (key && this.#next[key] !== undefined)
      throw corrupt('CORRUPT', 'two extended headers of the tar belong to one member');
    if (type === 'g') this.#global = { ...this.#global, ...parsePax(body) };
    else if (type === 'x') this.#next.pax = parsePax(body);
    else {
      const name = withoutPadding(body);
      this.#next[type === 'L' ? 'name' : 'linkName'] = name;
      if (this.#padding > 0 && name.length === body.length) this.#openName = name;
    }
  }

  /** Returns the header with the values of its extension headers. */
  #resolve(header: TarHeader): TarHeader {
    const { pax, name, linkName } = this.#next;
    this.#next = {};
    const said = { ...this.#global, ...pax };
    const resolved = {
      ...header,
      name: said.path ?? name ?? header.name,
      linkName: said.linkpath ?? linkName ?? header.linkName,
    };
    assertNotSparse(resolved, said);
    return { ...resolved, size: paxSize(resolved, said.size) };
  }

  #assertNoOrphan(): void {
    if (Object.keys(this.#next).length > 0)
      throw corrupt('TRUNCATED', 'the tar ends after an extended header, without its member (truncated)');
  }
}

function notTar(): Unreadable {
  return new Unreadable(
    'UNKNOWN_FORMAT',
    'The format is unsupported: what is compressed is not a tar, or the first header of the tar is damaged. Send a tar.gz, or the file in a zip.',
  );
}

function isExtension(type: string): type is ExtensionType {
  return Object.hasOwn(longestExtension, type);
}

/** Returns the text of a GNU long name. A regular expression would need quadratic time for zeros in the middle. */
function withoutPadding(body: Buffer): string {
  let end = body.length;
  while (end > 0 && body[end - 1] === 0) end -= 1;
  return body.toString('latin1', 0, end);
}

function assertNotSparse({ name, type }: TarHeader, { sparse, sparseName = name }: PaxRecords): void {
  if (type !== 'S' && !sparse) return;
  throw new Unreadable(
    'UNSUPPORTED',
    `The member “${sanitizeName(sparseName)}” is a sparse file, which is unsupported: pack it without --sparse (bsdtar: with --no-read-sparse).`,
  );
}

function paxSize({ name, size }: TarHeader, said: string | undefined): number {
  if (said === undefined) return size;
  const value = /^[0-9]{1,16}$/.test(said) ? Number(said) : Number.NaN;
  if (!Number.isSafeInteger(value))
    throw corrupt('CORRUPT', `the size of the member “${sanitizeName(name)}” is invalid`);
  // A value that fits the plain header has no reason to differ from it.
  if (value !== size && value < OCTAL_SIZES) {
    throw corrupt(
      'HEADER_MISMATCH',
      `the headers of the member “${sanitizeName(name)}” disagree in its size: ${value} and ${size} bytes (mismatch)`,
    );
  }
  return value;
}
