import type { Writable } from 'node:stream';

/**
 * Writes the chunks to a decompressor, each consumed before the next is requested. They may share one buffer, so that
 * no garbage accumulates. Never rejects; errors, also of a read of the chunks, surface at the output.
 */
export async function feed(pieces: Iterable<Uint8Array>, engine: Writable): Promise<void> {
  try {
    for (const piece of pieces) {
      if (!(await writeChunk(piece, engine))) return;
    }
    engine.end();
  } catch (error) {
    engine.destroy(error as Error);
  }
}

/** Resolves to `false` when the decompressor accepts no more. */
function writeChunk(piece: Uint8Array, engine: Writable): Promise<boolean> {
  if (engine.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const closed = (): void => resolve(false);
    engine.once('close', closed);
    engine.write(piece, (error) => {
      engine.off('close', closed);
      resolve(!error);
    });
  });
}
