import { lineAt } from './line-at.ts';

const REFERENCE = /&(?:[A-Za-z_][\w.-]*|#\d+|#x[\da-fA-F]+);/y;

/** Sections in which an ampersand is a plain character, with their names and ends. */
const SECTIONS: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['<!--', ['comment', '-->']],
  ['<![CDATA[', ['CDATA section', ']]>']],
  ['<?', ['processing instruction', '?>']],
]);

/**
 * Returns the line and the predicate of a mistake before `end` that parsers report far behind: the first `&` that begins
 * no reference, or a section that the text does not close.
 */
export function hiddenMistake(text: string, end: number): readonly [number, string] | undefined {
  const signs = /&|<!--|<!\[CDATA\[|<\?/g;
  for (let sign = signs.exec(text); sign !== null && sign.index < end; sign = signs.exec(text)) {
    const section = SECTIONS.get(sign[0]);
    if (section) {
      const [name, close] = section;
      const closed = text.indexOf(close, signs.lastIndex);
      if (closed >= 0) signs.lastIndex = closed + close.length;
      // A parser that stops before the end of the text has found another mistake.
      else if (end < text.length) return undefined;
      else return [lineAt(text, sign.index), `begins a ${name} that has no end: close it with ${close}.`];
      continue;
    }
    REFERENCE.lastIndex = sign.index;
    if (!REFERENCE.test(text))
      return [lineAt(text, sign.index), 'has an & that begins no reference: write it as &amp;.'];
  }
  return undefined;
}
