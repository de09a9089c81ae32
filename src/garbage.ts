import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;

const PATIENCE = 16 * 1024 ** 2;

/**
 * Passes pieces on and has the dead ones collected now and then. The engine counts what lies outside its heap
 * only roughly: left to itself it lets 64 MB of used-up buffers pile up in every thread.
 */
export async function* withoutGarbage(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let passed = 0;
  for await (const piece of pieces) {
    yield piece;
    passed += piece.length;
    if (passed < PATIENCE) continue;
    passed = 0;
    collect({ type: 'minor' });
  }
}
