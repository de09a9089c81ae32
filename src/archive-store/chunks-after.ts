/** What is left of chunks when so many bytes of them were written. */
export function chunksAfter(chunks: Uint8Array[], bytes: number): Uint8Array[] {
  let skipped = bytes;
  let first = 0;
  for (let chunk = chunks[first]; chunk && chunk.byteLength <= skipped; chunk = chunks[first]) {
    skipped -= chunk.byteLength;
    first += 1;
  }
  const [cut, ...rest] = chunks.slice(first);
  return cut === undefined ? [] : [cut.subarray(skipped), ...rest];
}
