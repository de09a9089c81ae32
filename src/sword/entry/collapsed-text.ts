/**
 * A text without white space around it, and with one blank for any inside. Of a long one no more than its beginning,
 * which is longer than `length`: what is not kept would cost more than all else that is made of an entry.
 */
export function collapsed(text: string, length: number): string {
  let beginning = '';
  for (const [word] of text.matchAll(/\S+/g)) {
    beginning += beginning === '' ? word : ` ${word}`;
    if (beginning.length > length) break;
  }
  return beginning;
}
