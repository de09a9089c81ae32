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
