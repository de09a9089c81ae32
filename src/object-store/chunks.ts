/** Yields bytes in memory as chunks that a store accepts. */
export function* toChunks(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536);
}

/** Copies chunks into a buffer, one after the other. Returns their length. */
export function fill(target: Uint8Array, chunks: readonly Uint8Array[]): number {
  let length = 0;
  for (const chunk of chunks) {
    target.set(chunk, length);
    length += chunk.byteLength;
  }
  return length;
}

/** Reads a stream of known length into a new buffer. */
export async function toBuffer(chunks: AsyncIterable<Buffer>, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for await (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
