/**
 * Returns the line number, from 1, of a position in a text. Counts without splitting, which would take long and much
 * memory for a long text.
 */
export function lineAt(text: string, place: number): number {
  let line = 1;
  for (let index = 0; index < place; index += 1) if (text.charCodeAt(index) === 0x0a) line += 1;
  return line;
}
