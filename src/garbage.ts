import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;

const PATIENCE = 4 * 1024 ** 2;

/**
 * Has used-up buffers collected now and then. The engine counts what lies outside its heap only roughly: left to
 * itself it lets 64 MB of them pile up in every thread.
 */
export class Garbage {
  #bytes = 0;

  /** To be told of bytes in buffers that nobody needs any more. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < PATIENCE) return;
    this.#bytes = 0;
    collect({ type: 'minor' });
  }
}

/** Passes pieces on and has the dead ones collected. */
export async function* withoutGarbage(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const garbage = new Garbage();
  for await (const piece of pieces) {
    yield piece;
    garbage.add(piece.length);
  }
}
