import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A call that changed the folder, with paths relative to it. */
export type JournalRecord = {
  readonly kind: 'close' | 'open' | 'write' | 'sync' | 'rename' | 'unlink' | 'truncate' | 'mkdir';
  readonly descriptor: number;
  readonly file: string;
  /** The new name. */
  readonly other: string;
  /** `open`: whether the file is new (1) or truncated (2); `rename`: whether the old name stays (1). */
  readonly offset: number;
  readonly bytes: Buffer;
};

/** Numbers of the kinds in watched-io.c. */
const KINDS = new Map<number, JournalRecord['kind']>([
  [0, 'close'],
  [1, 'open'],
  [4, 'write'],
  [8, 'sync'],
  [16, 'rename'],
  [32, 'unlink'],
  [64, 'truncate'],
  [128, 'mkdir'],
]);
const HEAD_BYTES = 32;

/** Reads the journal of the calls on a folder. */
export function journalOf(file: string, folder: string): JournalRecord[] {
  const bytes = readFileSync(file);
  const records: JournalRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const head = bytes.subarray(at, at + HEAD_BYTES);
    const written = Number(head.readBigInt64LE(16));
    const [nameEnd, otherEnd] = [head.readInt32LE(24), head.readInt32LE(24) + head.readInt32LE(28)];
    const body = bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + otherEnd + written);
    const name = (start: number, end: number): string =>
      start === end ? '' : path.relative(folder, body.toString('utf8', start, end));
    const kind = KINDS.get(head.readInt32LE(0));
    if (kind === undefined) throw new Error(`The journal has no call at byte ${at}.`);
    records.push({
      kind,
      descriptor: head.readInt32LE(4),
      file: name(0, nameEnd),
      other: name(nameEnd, otherEnd),
      offset: Number(head.readBigInt64LE(8)),
      bytes: Buffer.from(body.subarray(otherEnd)),
    });
    at += HEAD_BYTES + otherEnd + written;
  }
  return records;
}
