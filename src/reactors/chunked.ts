/** Bytes that are in memory, as the stream that a store takes. */
export async function* chunked(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536);
}

/** The bytes of a stream of known length, in a buffer of their own. */
export async function gathered(pieces: AsyncIterable<Buffer>, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for await (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
