import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void;

const COLLECT_AFTER_BYTES = 4 * 1024 ** 2;

/**
 * Triggers minor garbage collections of unused buffers. The engine counts memory outside its heap only roughly: by
 * default it lets 64 MB of them accumulate in every thread.
 */
export class MinorGc {
  #bytes = 0;

  /** Counts bytes in buffers that are no longer used. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < COLLECT_AFTER_BYTES) return;
    this.#bytes = 0;
    collect({ type: 'minor' });
  }
}

/** Triggers a garbage collection of all, after much memory outside of the heap has become unused. */
export function collectAll(): void {
  collect({ type: 'major' });
}

/** Passes chunks on, and has them collected after their use. */
export async function* collectingBuffers(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const garbage = new MinorGc();
  for await (const piece of pieces) {
    yield piece;
    garbage.add(piece.length);
  }
}
