import * as fc from 'fast-check';

const pieces = [
  ']]>',
  '<!--',
  '-->',
  '&',
  '&amp;',
  '&#1;',
  '&nbsp;',
  '<b a="',
  "'",
  '\r\n',
  '\t',
  '\0',
  '\u{1f98a}',
  '\ud800',
  '\udc00',
  '\ufffe',
  '%s',
  '<?x',
];

/** Any character of Unicode. For `unit: 'binary'` and `'grapheme'` fast-check takes seconds to build a table of them. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map(
    (code) => String.fromCodePoint(code),
    (character) => {
      const [code, ...more] = Array.from(String(character), (one) => one.codePointAt(0));
      if (code === undefined || more.length > 0) throw new Error('This is not one character.');
      return code;
    },
  );

/** Texts of all characters, including invalid ones, mixed with parts of markup. */
export const oddText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(...pieces),
      fc.integer({ max: 0xffff, min: 0 }).map((code) => String.fromCharCode(code)),
      fc.string(),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** Returns the text as XML 1.0 can represent it: other characters become U+FFFD. */
export function sayable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.toWellFormed().replace(/[^\t\n\r\x20-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');
}
