/**
 * Returns the extended (pax) header that gives the next member of a tar a path and a link target of any bytes.
 * tar-stream writes names in UTF-8 only. Names that are not UTF-8 are rare, but they are part of the identifier.
 */
export function rawNames(
  records: { readonly path?: string; readonly linkpath?: string },
  mtime: Date,
): Buffer {
  const body = Buffer.concat(Object.entries(records).map(([key, value]) => record(key, value)));
  const padding = Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK);
  return Buffer.concat([header(body.length, mtime), body, padding]);
}

/** Whether a latin1 string of raw bytes is UTF-8, so that tar-stream can write it. */
export function isUtf8Name(name: string): boolean {
  const bytes = Buffer.from(name, 'latin1');
  return bytes.equals(Buffer.from(bytes.toString('utf8')));
}

const BLOCK = 512;

/** Returns `length key=value\n`, where the length includes itself. */
function record(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.from(`${length}${rest}`, 'latin1');
}

function header(size: number, mtime: Date): Buffer {
  const block = Buffer.alloc(BLOCK);
  const seconds = Math.floor(mtime.getTime() / 1000);
  block.write('PaxHeader');
  block.write(`${octal(0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100);
  block.write(`${octal(size, 11)}\0${octal(seconds, 11)}\0        x`, 124);
  block.write('ustar\x0000', 257);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${octal(checksum, 6)}\0 `, 148);
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
