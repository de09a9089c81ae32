import type { Context } from 'koa';
import { CutOff } from '../../cut-off.ts';
import { badRequest } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';

/** The client went away before its request was whole; nobody is there to be answered. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
  readonly code = 'CLIENT_GONE';
}

/** Whether that is what became of the connection. */
export function isClientGone(error: unknown): boolean {
  if (error instanceof ClientGone) return true;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code !== undefined && GONE.has(code);
}

const GONE = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE', 'ECONNRESET', 'EPIPE']);

/** Milliseconds in which a body has begun, or is over, if its sender is not slow. */
const SOON = 5000;

/** Time a body may take: a base and what its size needs at the slowest rate that is borne. */
export type Patience = { readonly base: number; readonly bytesPerMs: number; readonly idle: number };

/**
 * The body as it comes. Says `100 Continue` only now, when everything before the body has been judged.
 * A client that is too slow is refused, be it that it stalls or that it drips; the time that its bytes take to be
 * stored is not its own.
 */
export async function* requestBody(
  ctx: Context,
  maxBytes: number,
  patience: Patience,
): AsyncGenerator<Buffer> {
  continueIfAsked(ctx);
  const whole = patience.base + (ctx.request.length ?? maxBytes) / patience.bytesPerMs;
  const awaited = new Awaited(patience.idle);
  // The socket outlives the iterator: a refusal is answered on it.
  const chunks = ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const next = await awaited.next(chunks);
      if (next.done) break;
      if (awaited.ms > whole) throw slow(whole);
      yield next.value;
    }
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ECONNRESET' ? gone(error) : error;
  } finally {
    awaited.end();
    // Its listener would keep what is left of a refused body from being drained.
    void chunks.return?.().catch(() => undefined);
  }
  if (!ctx.req.complete) throw gone();
}

/** Waits for chunks, for each so long at most, and counts the time. */
class Awaited {
  /** All of it, in milliseconds. */
  ms = 0;
  #isWaiting = false;
  readonly #stalled = new CutOff();
  readonly #idle: NodeJS.Timeout;

  constructor(idle: number) {
    this.#idle = clock.setTimeout(() => this.#isWaiting && this.#stalled.cut(slow(idle)), idle).unref();
  }

  async next(chunks: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer>> {
    const start = clock.monotonic();
    this.#idle.refresh(); // also one that has passed while nobody waited
    this.#isWaiting = true;
    const next = await this.#stalled.unless(chunks.next());
    this.#isWaiting = false;
    this.ms += clock.monotonic() - start;
    return next;
  }

  end(): void {
    clock.clearTimeout(this.#idle);
  }
}

/**
 * Whether a body that was to come in chunks has none; whoever waits for it is told to go on. What comes is left to be
 * read, and what does not come soon to the patience of whoever reads it.
 */
export async function turnsOutEmpty(ctx: Context): Promise<boolean> {
  const { req } = ctx;
  if (req.headers['transfer-encoding'] === undefined) return false;
  continueIfAsked(ctx);
  const { promise: told, resolve } = Promise.withResolvers<void>();
  const timer = clock.setTimeout(resolve, SOON);
  for (const sign of ['readable', 'close']) req.once(sign, resolve);
  await told;
  for (const sign of ['readable', 'close']) req.off(sign, resolve);
  clock.clearTimeout(timer);
  return req.complete && req.readableLength === 0;
}

/** Bytes of a body that must be small, whole in memory. */
export async function collect(
  body: AsyncIterable<Uint8Array>,
  limit: number,
  refuse: () => Error,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limit) throw refuse();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** Sent at most once, and only to a client that waits for it. */
export function continueIfAsked({ req, res }: Context): void {
  if (awaitsContinue(req) && !continued.has(res)) {
    continued.add(res);
    res.writeContinue();
  }
}

/** Whether the client holds its body back still: it was never told to go on. */
export function holdsBodyBack({ req, res }: Pick<Context, 'req' | 'res'>): boolean {
  return awaitsContinue(req) && !continued.has(res);
}

const continued = new WeakSet<object>();

/** In HTTP/1.0 there is no interim answer: it would be taken for the final one. */
function awaitsContinue({ headers, httpVersion }: Context['req']): boolean {
  return httpVersion === '1.1' && headers.expect?.trim().toLowerCase() === '100-continue';
}

function slow(ms: number): Error {
  return badRequest(
    `The body did not arrive in time: more than ${Math.round(ms / 1000)} seconds were needed.`,
  );
}

function gone(cause?: unknown): ClientGone {
  return new ClientGone('The client closed the connection before its request was whole.', { cause });
}
