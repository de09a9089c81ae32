import { corrupt } from './faults.ts';

/** Records of an extended header, latin1 strings of raw bytes. A Map, since any key may come. */
export type PaxRecords = ReadonlyMap<string, string>;

/**
 * Parses lines of the form `length key=value\n`, where the length counts the whole line in bytes.
 * @throws {Unreadable} anything else.
 */
export function parsePax(body: Buffer): PaxRecords {
  const records = new Map<string, string>();
  for (let at = 0; at < body.length; ) {
    const [head, digits] = /^([1-9][0-9]{0,8}) /.exec(body.toString('latin1', at, at + 10)) ?? [];
    const end = at + Number(digits);
    const equals = head === undefined ? -1 : body.indexOf('=', at + head.length, 'latin1');
    if (head === undefined || end > body.length || body[end - 1] !== 0x0a || equals === -1 || equals >= end) {
      throw corrupt('CORRUPT', 'an extended (pax) header of the tar is invalid');
    }
    records.set(
      body.toString('latin1', at + head.length, equals),
      body.toString('latin1', equals + 1, end - 1),
    );
    at = end;
  }
  return records;
}
