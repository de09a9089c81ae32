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

/** Texts of all characters there are, and of such that are none, with what markup is made of in between. */
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

/** What XML 1.0 can say of a text: the rest is U+FFFD. */
export function sayable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.toWellFormed().replace(/[^\t\n\r\x20-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');
}
