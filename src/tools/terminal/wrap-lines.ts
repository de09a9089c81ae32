import { printableLine } from './printable.ts';

/** Begins each line after the first: no text of a client can pass for a line of its own. */
const CONTINUED = '| ';

/** Wraps the words of a text into printable, indented lines. Only words that are longer exceed the width. */
export function wrapLines(text: string, indent: number, width: number): string[] {
  const lines: string[] = [];
  let [line, columns] = ['', 0];
  for (const word of printableLine(text).split(' ')) {
    const needed = columnsOf(word);
    const room = width - indent - (lines.length > 0 ? CONTINUED.length : 0);
    if (line !== '' && columns + 1 + needed > room) {
      lines.push(line);
      [line, columns] = [word, needed];
    } else if (line === '') [line, columns] = [word, needed];
    else [line, columns] = [`${line} ${word}`, columns + 1 + needed];
  }
  return [...lines, line].map((part, index) => ' '.repeat(indent) + (index > 0 ? CONTINUED : '') + part);
}

/** Returns the columns that a text takes at most: letters of Asia, and symbols, may be as wide as two. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += isWide(character.codePointAt(0) ?? 0) ? 2 : 1;
  return columns;
}

function isWide(code: number): boolean {
  return (code >= 0x1100 && code <= 0x11ff) || (code >= 0x2300 && code <= 0x2bff) || code >= 0x2e80;
}
