export type Line = { readonly bytes: Buffer; readonly hasEnd: boolean };

/** No event nor anchor is as long: whatever is read is none of ours. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';
  readonly code = 'LINE_TOO_LONG';
}

const LF = 0x0a;
/** Bytes: an event holds an entry at the most, which has 16 MiB before its characters are escaped. */
const LONGEST = 128 * 1024 ** 2;

/**
 * Ended by a line feed and nothing else: other separators may stand in the text of an event.
 * @throws {LineTooLong} before more than the longest is in memory.
 */
export async function* lines(source: AsyncIterable<Uint8Array>, longest = LONGEST): AsyncGenerator<Line> {
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
