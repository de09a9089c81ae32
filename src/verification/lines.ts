export type Line = { readonly bytes: Buffer; readonly hasEnd: boolean };

const LF = 0x0a;

/** Ended by a line feed and nothing else: other separators may stand in the text of an event. */
export async function* lines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let begun: Buffer[] = [];
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      yield { bytes: Buffer.concat([...begun, bytes.subarray(start, end)]), hasEnd: true };
      begun = [];
      start = end + 1;
    }
    if (start < bytes.length) begun.push(bytes.subarray(start));
  }
  if (begun.length > 0) yield { bytes: Buffer.concat(begun), hasEnd: false };
}
