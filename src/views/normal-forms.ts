/** Returns a text as it is, composed and decomposed: systems write the same characters in either form. */
export function normalForms(text: string): readonly string[] {
  return [...new Set([text, text.normalize('NFC'), text.normalize('NFD')])];
}
