/**
 * Characters that a terminal executes, that reverse the direction of writing, or that are invisible or blank: controls,
 * formats, separators, unassigned ones, fillers such as U+2800 and U+3164, and more marks on a letter than any language
 * has. Line feeds separate lines, and stay.
 */
const UNPRINTABLE =
  /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}|(?<=\p{M}{4})\p{M}/gu;

/**
 * Returns the text with each such character as `\u202e`, so that no text of a client can pass for output of a command.
 * Inside JSON that is the same string.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (odd) =>
    Array.from({ length: odd.length }, (_, unit) => escaped(odd.charCodeAt(unit))).join(''),
  );
}

export function printableLine(text: string): string {
  return printable(text.replace(/[\s]+/g, ' '));
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
