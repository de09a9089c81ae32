import { pipeline } from 'node:stream/promises';
import type { Context } from 'koa';
import { breakOff } from '../connections/connection-ends.ts';

/**
 * Nothing is sent before the first piece is there: until then a fault gets an answer of its own. Past it there is no
 * other status: a fault ends the connection, so that nobody takes a part for the whole. Whatever happens, the reading
 * is ended.
 */
export async function sendPieces(ctx: Context, pieces: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    const first = await pieces.next();
    ctx.status = 200;
    ctx.respond = false;
    ctx.res.statusCode = 200;
    await pipeline(async function* () {
      if (first.done) return;
      yield first.value;
      try {
        yield* { [Symbol.asyncIterator]: () => pieces };
      } catch (error) {
        breakOff(ctx.res);
        throw error;
      }
    }, ctx.res);
  } finally {
    await pieces.return?.(); // a client that has gone before the first piece: nobody else ends the reading
  }
}
