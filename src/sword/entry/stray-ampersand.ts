import { lineAt } from './line-at.ts';

const REFERENCE = /&(?:[A-Za-z_][\w.-]*|#\d+|#x[\da-fA-F]+);/y;

/** Sections in which an ampersand is a plain character, with their ends. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
]);

/** Returns the line of the first `&` before `end` that begins no reference; parsers report it far behind. */
export function strayAmpersand(text: string, end: number): number | undefined {
  const signs = /&|<!--|<!\[CDATA\[|<\?/g;
  for (let sign = signs.exec(text); sign !== null && sign.index < end; sign = signs.exec(text)) {
    const close = PLAIN.get(sign[0]);
    if (close !== undefined) {
      const closed = text.indexOf(close, signs.lastIndex);
      if (closed < 0) return undefined;
      signs.lastIndex = closed + close.length;
      continue;
    }
    REFERENCE.lastIndex = sign.index;
    if (!REFERENCE.test(text)) return lineAt(text, sign.index);
  }
  return undefined;
}
