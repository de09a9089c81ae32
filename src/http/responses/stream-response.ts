import { pipeline } from 'node:stream/promises';
import type { Context } from 'koa';
import { abortResponse } from '../server/abort-response.ts';

/**
 * Streams a response and always closes its source. Sends nothing before the first chunk: until then an error gets a
 * response of its own. A later error closes the connection, so that no client accepts a part as the whole.
 */
export async function streamChunks(
  ctx: Context,
  chunks: AsyncIterator<Uint8Array>,
  status = 200,
): Promise<void> {
  try {
    const first = await chunks.next();
    ctx.status = status;
    ctx.respond = false;
    await pipeline(async function* () {
      if (first.done) return;
      yield first.value;
      try {
        yield* { [Symbol.asyncIterator]: () => chunks };
      } catch (error) {
        abortResponse(ctx.res);
        throw error;
      }
    }, ctx.res);
  } finally {
    await chunks.return?.(); // a client that left before the first chunk: the pipeline does not close the source
  }
}
