import { isUtf8 } from 'node:buffer';
import { tarBlock, tarPadding } from '../../src/archives/tar/tar-writer.ts';

/**
 * Returns the extended (pax) header that gives the next member of a tar a path and a link target of any bytes.
 * tar-stream writes names in UTF-8 only. Names that are not UTF-8 are rare, but they are part of the identifier.
 */
export function rawNames(
  records: { readonly path?: string; readonly linkpath?: string },
  mtime: Date,
): Buffer {
  const body = Buffer.concat(Object.entries(records).map(([key, value]) => record(key, value)));
  const seconds = Math.floor(mtime.getTime() / 1000);
  const header = tarBlock('PaxHeader', 'x', 0o644, body.length, { seconds, magic: 'ustar\x0000' });
  return Buffer.concat([header, body, tarPadding(body.length)]);
}

/** Whether a latin1 string of raw bytes is UTF-8, so that tar-stream can write it. */
export function isUtf8Name(name: string): boolean {
  return isUtf8(Buffer.from(name, 'latin1'));
}

/** Returns `length key=value\n`, where the length includes itself. */
function record(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.from(`${length}${rest}`, 'latin1');
}
