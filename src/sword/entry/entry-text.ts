/**
 * Returns a text with white space trimmed and collapsed. A text longer than `length` is truncated somewhat beyond it:
 * normalizing all of it would dominate parsing time.
 */
export function normalizeSpace(text: string, length: number): string {
  let beginning = '';
  for (const [word] of text.matchAll(/\S+/g)) {
    beginning += beginning === '' ? word : ` ${word}`;
    if (beginning.length > length) break;
  }
  return beginning;
}

/** Truncates a text without splitting a surrogate pair. */
export function truncate<Text extends string | null>(text: Text, length: number): Text | string {
  return text === null || text.length <= length
    ? text
    : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

/** Truncates a text to some bytes of JSON, without splitting a surrogate pair. */
export function truncateToBytes(text: string | null, bytes: number): string | null {
  let shorter = text;
  while (shorter !== null && textBytes(shorter) > bytes) {
    const excess = textBytes(shorter) - bytes;
    shorter = truncate(shorter, shorter.length - Math.ceil(excess / MAX_UNIT_BYTES));
  }
  return shorter;
}

/** Maximum bytes of JSON for a UTF-16 code unit of XML. */
const MAX_UNIT_BYTES = 3;

/** Returns the bytes of a text in JSON, without its quotes. */
export function textBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
