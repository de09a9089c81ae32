/** Returns the rest of the chunks after the first `bytes` bytes. */
export function skipBytes(chunks: Uint8Array[], bytes: number): Uint8Array[] {
  let skipped = bytes;
  let first = 0;
  for (let chunk = chunks[first]; chunk && chunk.byteLength <= skipped; chunk = chunks[first]) {
    skipped -= chunk.byteLength;
    first += 1;
  }
  const [cut, ...rest] = chunks.slice(first);
  return cut === undefined ? [] : [cut.subarray(skipped), ...rest];
}
