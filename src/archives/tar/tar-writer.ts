import type { LeafMode } from '../../swhid/directory.ts';
import { BLOCK_LENGTH, OCTAL_SIZES, paddingOf, tarEnd } from './tar-block.ts';

/**
 * A member to write. Paths and targets are latin1 strings of raw bytes; a path is relative, and empty for the root
 * directory.
 */
type WrittenMember = { readonly path: string } & (
  | { readonly type: 'file'; readonly mode: LeafMode; readonly length: number }
  | { readonly type: 'link'; readonly target: string }
  | { readonly type: 'hard link'; readonly mode: LeafMode; readonly target: string }
  | { readonly type: 'directory' }
);

const flags = { file: '0', 'hard link': '1', link: '2', directory: '5' } as const;
const LONGEST_FIELD = 100;

/**
 * Returns the header of a member in the GNU format, whose long names are raw bytes as those of directories are. It has
 * no time and no owner: the same tree results in the same headers.
 */
export function tarHeader(member: WrittenMember): Buffer {
  const name = nameOf(member);
  const target = targetOf(member);
  const header = tarBlock(name, flags[member.type], permissions(member), sizeOf(member), { target });
  return Buffer.concat([longRecord('K', target), longRecord('L', name), header]);
}

/** Returns the padding of the last block of a file. */
export function tarPadding(length: number): Uint8Array {
  return tarEnd.subarray(0, paddingOf(length));
}

/** Returns the name below `./`, so that no name looks like an option, a drive or an absolute path. */
function nameOf({ path, type }: WrittenMember): string {
  return `./${path}${type === 'directory' && path !== '' ? '/' : ''}`;
}

function targetOf(member: WrittenMember): string {
  if (member.type === 'hard link') return `./${member.target}`;
  return member.type === 'link' ? member.target : '';
}

function permissions(member: WrittenMember): number {
  if (member.type === 'link') return 0o777;
  return member.type === 'directory' || member.mode === '100755' ? 0o755 : 0o644;
}

function sizeOf(member: WrittenMember): number {
  return member.type === 'file' ? member.length : 0;
}

function longRecord(type: 'K' | 'L', text: string): Buffer {
  if (text.length <= LONGEST_FIELD) return Buffer.alloc(0);
  const body = Buffer.from(`${text}\0`, 'latin1');
  return Buffer.concat([tarBlock('././@LongLink', type, 0o644, body.length), body, tarPadding(body.length)]);
}

/** Returns the block of one header. `magic` names the format, by default that of GNU; `seconds` are since 1970. */
export function tarBlock(
  name: string,
  type: string,
  mode: number,
  size: number,
  { target = '', seconds = 0, magic = 'ustar  \0' } = {},
): Buffer {
  const header = Buffer.alloc(BLOCK_LENGTH);
  header.write(name.slice(0, LONGEST_FIELD), 0, 'latin1');
  header.write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100, 'latin1');
  writeSize(header, size);
  header.write(`${octal(seconds, 11)}\0        ${type}`, 136, 'latin1');
  header.write(target.slice(0, LONGEST_FIELD), 157, 'latin1');
  header.write(magic, 257, 'latin1');
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return header;
}

function writeSize(header: Buffer, size: number): void {
  if (size < OCTAL_SIZES) {
    header.write(`${octal(size, 11)}\0`, 124, 'latin1');
    return;
  }
  header.writeUInt8(0x80, 124);
  header.writeBigUInt64BE(BigInt(size), 128);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
