import { retryAfter, SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import { FairSemaphore, type ReachedLimit } from '../../tools/concurrency/fair-semaphore.ts';
import { ClientGone } from '../requests/request-body.ts';
import { abortResponse } from '../server/abort-response.ts';
import type { ServiceContext } from '../service-context.ts';
import { streamChunks } from './stream-response.ts';
import { yieldWhenStalled } from './yield-when-stalled.ts';

export type LongAnswerLimits = {
  /** Noun of the refusal, in the plural. */
  readonly kind: string;
  /** Maximum answers in progress, in total and of one client. */
  readonly limit: number;
  readonly ownerLimit: number;
  /** Whether a client's limit shrinks to a share of what others leave. */
  readonly shrinking: boolean;
  /** Maximum requests that wait for an answer in progress, in total and of one client. */
  readonly waiting: number;
  readonly ownerWaiting: number;
  /** Maximum milliseconds from a permit until its answer is sent; unlimited if omitted. */
  readonly sendingTimeoutMs?: number;
  /** Milliseconds without a byte sent after which an answer ends if others wait; `STALLED_AFTER_MS` outside tests. */
  readonly stalledAfterMs?: number;
};

/** Limits of lists, whose content is made while it is sent. */
export const LISTS: LongAnswerLimits = {
  kind: 'lists',
  limit: 32,
  ownerLimit: 4,
  shrinking: false,
  waiting: 256,
  ownerWaiting: 16,
  sendingTimeoutMs: 120_000,
};

/** Limits of archives: each needs an open file, or a connection to the store, for as long as its client reads. */
export const DOWNLOADS: LongAnswerLimits = {
  kind: 'archives',
  limit: 64,
  ownerLimit: 16,
  shrinking: true,
  waiting: 256,
  ownerWaiting: 64,
};

/** Longer than `STALLED_AFTER_MS`, so that a client that reconnects gets the permits of its dead connections. */
const WAITING_TIMEOUT_MS = 15_000;

/** Characters of one chunk of a body. */
const CHUNK_CHARACTERS = 64 * 1024;

/**
 * Limits the answers whose content takes time, memory or descriptors. An answer holds a permit from before its content is
 * looked up until it is sent or its client has gone. An answer that its client does not read gives way to one that waits.
 * So answers that no client reads need bounded memory, and one client delays neither others nor, for long, itself.
 */
export class LongAnswers {
  readonly #limits: LongAnswerLimits;
  readonly #permits: FairSemaphore;

  constructor(limits: LongAnswerLimits) {
    this.#limits = limits;
    this.#permits = new FairSemaphore({
      ...limits,
      timeoutMs: WAITING_TIMEOUT_MS,
      refuse: (reached) => busy(limits.kind, reached),
    });
  }

  /** Waits for a permit, which the answer holds until it has ended. @throws {SwordError} 503 @throws {ClientGone} */
  async begin({ res, state: { login } }: ServiceContext): Promise<void> {
    const [ended, held] = [new AbortController(), new DisposableStack()];
    res.once('close', () => {
      ended.abort(new ClientGone('The client has closed the connection.'));
      held.dispose();
    });
    if (res.closed) throw new ClientGone('The client has closed the connection.');
    const permit = await this.#permits.acquire(login.client, ended.signal);
    await clock.nextTurn(); // several that end at the same time would have as many begin in one turn
    if (held.disposed) return permit[Symbol.dispose]();
    held.use(permit);
    const { sendingTimeoutMs, stalledAfterMs } = this.#limits;
    held.use(yieldWhenStalled(res, () => this.#permits.isWanted(login.client), stalledAfterMs));
    if (sendingTimeoutMs === undefined) return;
    const timer = clock.setTimeout(() => abortResponse(res), sendingTimeoutMs);
    held.defer(() => clock.clearTimeout(timer));
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

function busy(kind: string, reached: ReachedLimit): SwordError {
  const whose = reached === 'owner' ? 'of your client' : 'of all clients';
  const summary = `Too many ${kind} ${whose} are being sent at the moment: try again in a few seconds.`;
  return retryAfter('ServiceUnavailable', summary, 5);
}
