import type { Writable } from 'node:stream';

/**
 * Writes the pieces to a decompressor, each used up before the next is taken: they may share one buffer, so
 * that nothing piles up for the garbage collector. Never rejects; what goes wrong surfaces at the output.
 */
export async function feed(pieces: Iterable<Uint8Array>, engine: Writable): Promise<void> {
  for (const piece of pieces) {
    if (!(await taken(piece, engine))) return;
  }
  engine.end();
}

/** Resolves to `false` when the engine takes no more. */
function taken(piece: Uint8Array, engine: Writable): Promise<boolean> {
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
