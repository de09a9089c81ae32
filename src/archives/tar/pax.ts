import { corrupt } from '../faults.ts';

/** The records of extended headers that the reader uses; others are ignored. Texts are latin1 strings of raw bytes. */
export type PaxRecords = {
  readonly path?: string;
  readonly linkpath?: string;
  readonly size?: string;
  /** Whether there was a record of a sparse file. */
  readonly sparse?: true;
  /** The real name of a sparse file, which has a generated one in its header. */
  readonly sparseName?: string;
};

const sparsePrefix = 'GNU.sparse.';
const sparseName = 'GNU.sparse.name';
const [digit0, digit9, space, equalsSign, lineFeed] = [0x30, 0x39, 0x20, 0x3d, 0x0a];
const MOST_DIGITS = 9;

/**
 * Parses lines of the form `length key=value`, where the length counts the whole line in bytes, with its line feed. The
 * memory for the result does not grow with the number of lines.
 * @throws {Unreadable} any other content.
 */
export function parsePax(body: Buffer): PaxRecords {
  const records: { -readonly [key in keyof PaxRecords]: PaxRecords[key] } = {};
  for (let at = 0; at < body.length; ) {
    const { keyStart, end } = lineAt(body, at);
    const equals = body.indexOf(equalsSign, keyStart);
    if (end > body.length || body[end - 1] !== lineFeed || equals === -1 || equals >= end) throw invalid();
    const key = body.toString('latin1', keyStart, Math.min(equals, keyStart + sparseName.length + 1));
    if (key === 'path' || key === 'linkpath' || key === 'size')
      records[key] = body.toString('latin1', equals + 1, end - 1);
    else if (key.startsWith(sparsePrefix)) {
      records.sparse = true;
      if (key === sparseName) records.sparseName = body.toString('latin1', equals + 1, end - 1);
    }
    at = end;
  }
  return records;
}

function lineAt(body: Buffer, at: number): { keyStart: number; end: number } {
  let [length, next] = [0, at];
  for (; next < at + MOST_DIGITS && isDigit(body[next]); next += 1)
    length = length * 10 + body[next]! - digit0;
  if (next === at || body[at] === digit0 || body[next] !== space) throw invalid();
  return { keyStart: next + 1, end: at + length };
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= digit0 && byte <= digit9;
}

function invalid() {
  return corrupt('CORRUPT', 'an extended (pax) header of the tar is invalid');
}
