/** Returns the line number, from 1, of a position; without splitting the text, which may be long. */
export function lineAt(text: string, place: number): number {
  let line = 1;
  for (let index = 0; index < place; index += 1) if (text.charCodeAt(index) === 0x0a) line += 1;
  return line;
}
