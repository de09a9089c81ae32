/** The number of the line that a place in a text is in, from 1. To split a long text would take long, and much memory. */
export function lineAt(text: string, place: number): number {
  let line = 1;
  for (let index = 0; index < place; index += 1) if (text.charCodeAt(index) === 0x0a) line += 1;
  return line;
}
