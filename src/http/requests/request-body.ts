import type { Context } from 'koa';
import { badRequest } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { AbortGate } from '../../tools/concurrency/abort-gate.ts';

/** The client closed the connection before its request was complete; no response is possible. */
export class ClientGone extends errorsOfCode('CLIENT_GONE') {}

/** Milliseconds for expensive work after the client closed its side: it may still read, or be gone. */
const HALF_CLOSED_TIMEOUT_MS = 500;

/**
 * Runs expensive work with a signal that aborts when the connection closes before the answer was sent, and soon after
 * the client closed its side of it. The work then rejects with {@link ClientGone}.
 */
export async function untilClientGone<Outcome>(
  { req, res }: Context,
  work: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const gone = new AbortController();
  const abort = () =>
    gone.abort(new ClientGone('The client closed the connection before its answer was whole.'));
  const { socket } = req;
  let timer: NodeJS.Timeout | undefined;
  const abortSoon = () => {
    timer = clock.setTimeout(abort, HALF_CLOSED_TIMEOUT_MS);
  };
  if (res.closed) abort();
  else if (socket.readableEnded) abortSoon();
  res.once('close', abort);
  socket.once('end', abortSoon);
  try {
    return await work(gone.signal);
  } catch (error) {
    throw gone.signal.aborted ? gone.signal.reason : error;
  } finally {
    clock.clearTimeout(timer);
    res.off('close', abort);
    socket.off('end', abortSoon);
  }
}

/** Returns whether the error means that the client closed the connection. */
export function isClientGone(error: unknown): boolean {
  if (error instanceof ClientGone) return true;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code !== undefined && GONE.has(code);
}

const GONE = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE', 'ECONNRESET', 'EPIPE']);

/** Milliseconds within which the first bytes or the end of a body must arrive to be noticed as such. */
const EMPTY_BODY_TIMEOUT_MS = 5000;

/** Longest time between two counts of the time that a body has taken. */
const LONGEST_TICK_MS = 1000;

/** Time limits of a body: a base (ms) plus its size at a minimum rate (bytes per ms), and idle time (ms). */
export type BodyTimeouts = { readonly base: number; readonly bytesPerMs: number; readonly idle: number };

/**
 * Yields the body as it arrives. Sends `100 Continue` only now, after all checks that need no body. Rejects a client
 * that is idle or slower than the minimum rate. Time spent storing the bytes does not count against the client.
 */
export async function* requestBody(
  ctx: Context,
  maxBytes: number,
  timeouts: BodyTimeouts,
): AsyncGenerator<Buffer> {
  sendContinue(ctx);
  const totalMs = timeouts.base + (ctx.request.length ?? maxBytes) / timeouts.bytesPerMs;
  const reader = new TimedReader(timeouts.idle, idleError);
  // The socket must survive the iterator: a refusal is answered on it.
  const chunks = ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const next = await reader.wait(chunks.next());
      if (next.done) break;
      if (reader.ms > totalMs) throw bodyTimeoutError(totalMs);
      yield next.value;
    }
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ECONNRESET' ? clientGoneError(error) : error;
  } finally {
    reader.end();
    // Its listener would stop the rest of a refused body from being drained.
    void chunks.return?.().catch(() => undefined);
  }
  if (!ctx.req.complete) throw clientGoneError();
}

/**
 * Settles like the work, which waits for bytes of the body, or rejects if it waits longer than `limitMs`. Time in which
 * the process was stopped does not count.
 */
export async function inTime<Outcome>(work: Promise<Outcome>, limitMs: number): Promise<Outcome> {
  const reader = new TimedReader(limitMs, bodyTimeoutError);
  try {
    return await reader.wait(work);
  } finally {
    reader.end();
  }
}

/**
 * Waits for chunks with an idle timeout, and measures the time spent waiting. The time is counted in ticks: one that
 * comes late counts as two, since the process was stopped or busy, and what the client has sent meanwhile was not read
 * yet.
 */
class TimedReader {
  /** Total waiting time in milliseconds. */
  ms = 0;
  #idleMs = 0;
  #isWaiting = false;
  #countedAt = clock.monotonic();
  readonly #tickMs: number;
  readonly #stalled = new AbortGate();
  readonly #ticks: NodeJS.Timeout;

  constructor(idle: number, refuse: (idle: number) => Error) {
    this.#tickMs = Math.min(LONGEST_TICK_MS, idle / 4);
    this.#ticks = clock.setInterval(() => this.#tick(idle, refuse), this.#tickMs).unref();
  }

  async wait<Outcome>(work: Promise<Outcome>): Promise<Outcome> {
    this.#countedAt = clock.monotonic();
    this.#idleMs = 0;
    this.#isWaiting = true;
    const outcome = await this.#stalled.race(work);
    this.#count();
    this.#isWaiting = false;
    return outcome;
  }

  end(): void {
    clock.clearInterval(this.#ticks);
  }

  #tick(idle: number, refuse: (idle: number) => Error): void {
    if (!this.#isWaiting) return;
    this.#count();
    if (this.#idleMs >= idle) this.#stalled.abort(refuse(idle));
  }

  #count(): void {
    const now = clock.monotonic();
    const elapsed = Math.min(now - this.#countedAt, 2 * this.#tickMs);
    this.#countedAt = now;
    this.ms += elapsed;
    this.#idleMs += elapsed;
  }
}

/**
 * Resolves to whether a chunked request has an empty body. Sends `100 Continue` if the client waits for it. Does not
 * consume the body; resolves to `false` after 5 s without data.
 */
export async function isEmptyBody(ctx: Context): Promise<boolean> {
  const { req } = ctx;
  if (req.headers['transfer-encoding'] === undefined) return false;
  sendContinue(ctx);
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  for (const sign of ['readable', 'close']) req.once(sign, resolve);
  await inTime(settled, EMPTY_BODY_TIMEOUT_MS).catch(() => undefined);
  for (const sign of ['readable', 'close']) req.off(sign, resolve);
  return req.complete && req.readableLength === 0;
}

/** Collects a small body in memory; rejects with `refuse()` when it exceeds `limit` bytes. */
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

/** Sends `100 Continue` at most once, and only to a client that waits for it. */
export function sendContinue(ctx: Context): void {
  if (!waitsToContinue(ctx)) return;
  continued.add(ctx.res);
  ctx.res.writeContinue();
}

/**
 * Returns whether the client still waits for `100 Continue` before it sends its body. HTTP/1.0 would read that as the
 * final response.
 */
export function waitsToContinue({ req, res }: Pick<Context, 'req' | 'res'>): boolean {
  const { headers, httpVersion } = req;
  const isExpected = httpVersion === '1.1' && headers.expect?.trim().toLowerCase() === '100-continue';
  return isExpected && !continued.has(res);
}

const continued = new WeakSet<object>();

function bodyTimeoutError(ms: number): Error {
  return badRequest(
    `The body did not arrive in time: more than ${Math.round(ms / 1000)} seconds were needed.`,
    { status: 408 },
  );
}

function idleError(ms: number): Error {
  return badRequest(`No byte of the body arrived for ${Math.round(ms / 1000)} seconds.`, { status: 408 });
}

function clientGoneError(cause?: unknown): ClientGone {
  return new ClientGone('The client closed the connection before its request was whole.', { cause });
}
