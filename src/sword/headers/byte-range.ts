import { SwordError } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** Offsets of the first and the last byte. */
export type ByteRange = { readonly first: number; readonly last: number };

/**
 * Returns the part that a `Range` header asks for. Returns `undefined` for the whole: without the header, for another
 * unit, for several ranges or a malformed one, all of which a server may ignore (RFC 9110, 14.2).
 * @throws {SwordError} 416: there is no such part.
 */
export function byteRange(range: RawHeader, length: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(headerText(range) ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  const end = length - 1;
  const part =
    first === ''
      ? { first: Math.max(0, length - Number(last)), last: end }
      : { first: Number(first), last: last === '' ? end : Math.min(Number(last), end) };
  if (part.first <= end) return part;
  throw new SwordError(
    'RangeNotSatisfiable',
    `The archive has ${length} bytes, none of them in this range.`,
    { headers: { 'Content-Range': `bytes */${length}` } },
  );
}

/** Returns whether `If-Range` permits a part: it is absent, or the strong tag of the representation. */
export function permitsPart(ifRange: RawHeader, tag: string): boolean {
  const wanted = headerText(ifRange);
  return wanted === undefined || wanted.trim() === tag;
}
