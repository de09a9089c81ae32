import { codePoint, type TextPart, visibleParts } from './visible.ts';

/**
 * Line feeds, tabs, and spaces at the ends of a name or next to others: a page shows these as one, or not at all. Bytes that
 * are not UTF-8 are lone surrogates.
 */
const HIDDEN_IN_NAME = /([\n\t]|(?<=^| ) | (?= |$)|[\udc80-\udcff])/u;

/** Splits a name as `visibleParts` does, so that names look different that differ in spaces or in bytes that are not UTF-8. */
export function nameParts(name: string): TextPart[] {
  return name
    .split(HIDDEN_IN_NAME)
    .flatMap((part, index) =>
      index % 2 === 0 ? visibleParts(part) : [{ text: markOf(part), isHidden: true }],
    );
}

function markOf(character: string): string {
  const code = character.charCodeAt(0);
  return code > 0xdc00 ? `\\x${(code - 0xdc00).toString(16)}` : codePoint(character);
}
