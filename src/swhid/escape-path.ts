/**
 * Formats a path (latin1 string of its raw bytes) for the `path` qualifier: percent-encodes every byte outside
 * `A-Za-z0-9_.-~/`. The result is ASCII, and different paths give different results.
 */
export function escapePath(path: string): string {
  return path.replace(/[^A-Za-z0-9_.~/-]/g, (byte) => escapes[byte.charCodeAt(0)]!);
}

/** @throws {Error} a percent sign without two hex digits, or a character that is not a byte. */
export function unescapePath(escaped: string): string {
  if (!/^(?:[\0-$&-\xff]|%[0-9A-Fa-f]{2})*$/.test(escaped))
    throw new Error(`Not an escaped path: ${escaped}`);
  return escaped.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

const escapes = Array.from(
  { length: 256 },
  (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
);
