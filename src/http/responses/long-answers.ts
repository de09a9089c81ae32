import { SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import { FairSemaphore, type ReachedLimit } from '../../tools/concurrency/fair-semaphore.ts';
import { ClientGone } from '../requests/request-body.ts';
import { abortResponse } from '../server/socket-shutdown.ts';
import type { ServiceContext } from '../service-context.ts';
import { streamChunks } from './stream-response.ts';

/** Limits of answers in progress: in total, and for one client, which may have others wait for these. */
const LIMIT = 32;
const LIMIT_PER_CLIENT = 4;
const MAX_WAITING = 256;
const MAX_WAITING_PER_CLIENT = 16;
const WAITING_TIMEOUT_MS = 10_000;
/** Maximum milliseconds from a permit until its answer is sent: a client that reads slowly has it no longer. */
const SENDING_TIMEOUT_MS = 120_000;

/** Characters of one chunk of a body. */
const CHUNK_CHARACTERS = 64 * 1024;

/**
 * Limits the answers whose content takes time and memory. An answer holds a permit from before its content is looked up
 * until it is sent or its client has gone. So answers that no client reads need bounded memory, and one client delays
 * only itself.
 */
export class LongAnswers {
  readonly #permits = new FairSemaphore({
    limit: LIMIT,
    ownerLimit: LIMIT_PER_CLIENT,
    waiting: MAX_WAITING,
    ownerWaiting: MAX_WAITING_PER_CLIENT,
    timeoutMs: WAITING_TIMEOUT_MS,
    refuse: busy,
  });

  /**
   * Waits for a permit, which the answer holds until it has ended.
   * @throws {SwordError} 503
   * @throws {ClientGone}
   */
  async begin({ res, state: { login } }: ServiceContext): Promise<void> {
    const ended = new AbortController();
    res.once('close', () => ended.abort(new ClientGone('The client has closed the connection.')));
    if (res.closed) throw new ClientGone('The client has closed the connection.');
    const permit = await this.#permits.acquire(login.client, ended.signal);
    await clock.nextTurn(); // several that end at the same time would have as many begin in one turn
    const timer = clock.setTimeout(() => abortResponse(res), SENDING_TIMEOUT_MS);
    const end = (): void => {
      clock.clearTimeout(timer);
      permit[Symbol.dispose]();
    };
    if (res.closed) end();
    else res.once('close', end);
  }
}

/** Sends a body piece by piece, as fast as the client reads it. */
export async function sendInPieces(ctx: ServiceContext, pieces: Iterable<string>): Promise<void> {
  if (ctx.method === 'HEAD') ctx.status = 200;
  else await streamChunks(ctx, chunksOf(pieces));
}

/** Yields to the event loop before each chunk: a system that buffers whole answers would never have the stream wait. */
async function* chunksOf(pieces: Iterable<string>): AsyncGenerator<Uint8Array, void> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK_CHARACTERS) continue;
    await clock.nextTurn();
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

function busy(reached: ReachedLimit): SwordError {
  const whose = reached === 'owner' ? 'of your client' : 'of all clients';
  const summary = `Too many lists ${whose} are being sent at the moment: try again in a few seconds.`;
  return new SwordError('ServiceUnavailable', summary, { headers: { 'Retry-After': '5' } });
}
