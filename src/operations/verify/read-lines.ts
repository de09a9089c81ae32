import { errorsOfCode } from '../../tools/coded-error.ts';
export type Line = { readonly bytes: Buffer; readonly hasEnd: boolean };

/** The line is longer than any event or anchor, so the service did not write it. */
class LineTooLong extends errorsOfCode('LINE_TOO_LONG') {}

const LF = 0x0a;
/** Maximum bytes of a line: an event contains at most one entry, of 16 MiB before its characters are escaped. */
const MAX_LINE_BYTES = 128 * 1024 ** 2;

/**
 * Yields lines, separated by line feeds only: the text of an event may contain other separators.
 * @throws {LineTooLong} before more than the maximum is in memory.
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  longest = MAX_LINE_BYTES,
): AsyncGenerator<Line> {
  let [begun, length, number]: [Buffer[], number, number] = [[], 0, 1];
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      yield { bytes: Buffer.concat([...begun, bytes.subarray(start, end)]), hasEnd: true };
      [begun, length, number] = [[], 0, number + 1];
      start = end + 1;
    }
    if (start < bytes.length) begun.push(bytes.subarray(start));
    length += bytes.length - start;
    if (length > longest)
      throw new LineTooLong(
        `Line ${number} has no end within ${longest} bytes: no line of this service is as long.`,
      );
  }
  if (begun.length > 0) yield { bytes: Buffer.concat(begun), hasEnd: false };
}
