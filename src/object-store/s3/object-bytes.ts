import type { IncomingMessage } from 'node:http';
import { clock } from '../../tools/clock.ts';
import { unavailable } from '../store-errors.ts';
import { faultOf, isBrokenOff, notS3, S3Fault } from './s3-errors.ts';
import type { Timeouts } from './transport.ts';

/** Minimum rate in bytes per millisecond, in addition to the time limit of any request. */
const MIN_BYTES_PER_MS = 16;

/** Requests the bytes of an object from this offset on. */
type Opening = (from: number) => Promise<IncomingMessage>;

export type OpenedObject = {
  /** The length of the whole object, also if it is read from a later offset than 0. */
  readonly length: number;
  readonly bytes: AsyncGenerator<Buffer>;
  /** Ends the request; needed if no byte is read. */
  readonly close: () => void;
};

/** Returns an object whose bytes are the body of this answer, or as in {@link objectBytes} of later ones. */
export function openedObject(
  first: IncomingMessage,
  reopen: Opening,
  limits: Pick<Timeouts, 'idle' | 'total'>,
): OpenedObject {
  const close = () => void first.destroy();
  const { 'content-length': length, 'content-range': range } = first.headers;
  const [, whole] = /^(?:bytes .*\/)?(\d+)$/.exec(range ?? length ?? '') ?? [];
  if (whole !== undefined) return { length: Number(whole), bytes: objectBytes(first, reopen, limits), close };
  close();
  throw unavailable('read', notS3('an object without length'));
}

/**
 * Yields the bytes of an object as the store sends them. When the connection breaks, requests the rest, provided that
 * each attempt makes progress: a store may have been restarted.
 */
async function* objectBytes(
  first: IncomingMessage,
  reopen: Opening,
  limits: Pick<Timeouts, 'idle' | 'total'>,
): AsyncGenerator<Buffer> {
  const pace = new Pace(limits);
  for (let body = first, broken = -1; ; ) {
    try {
      for await (const chunk of paced(body, pace)) yield chunk;
      return;
    } catch (error) {
      const fault = faultOf(error);
      if (!isBrokenOff(fault) || broken === pace.length) throw unavailable('read', fault);
    }
    broken = pace.length;
    body = await reopen(pace.length);
  }
}

/** Verifies that the answer begins at the requested offset, which a store or a cache before it may ignore. */
export function assertFrom(from: number, body: IncomingMessage): void {
  const { statusCode, headers } = body;
  if (statusCode === 206 ? headers['content-range']?.startsWith(`bytes ${from}-`) : from === 0) return;
  body.destroy();
  throw new S3Fault('NoRange', 'the connection was lost, and it does not send the rest of an object alone');
}

async function* paced(body: IncomingMessage, pace: Pace): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await pace.next(chunks, (fault) => body.destroy(fault));
      if (next.done) return;
      yield next.value;
    }
  } finally {
    body.destroy();
  }
}

/** Measures the received bytes and the time spent waiting for them, over all connections. */
class Pace {
  length = 0;
  readonly #limits: Pick<Timeouts, 'idle' | 'total'>;
  #awaited = 0;

  constructor(limits: Pick<Timeouts, 'idle' | 'total'>) {
    this.#limits = limits;
  }

  async next(
    chunks: AsyncIterator<Buffer>,
    end: (fault: S3Fault) => void,
  ): Promise<IteratorResult<Buffer, unknown>> {
    const { idle, total } = this.#limits;
    const begun = clock.monotonic();
    const silent = new S3Fault('Silent', `it sent nothing for ${idle} ms`);
    const timer = clock.setTimeout(end, idle, silent);
    const next = await chunks.next().finally(() => clock.clearTimeout(timer));
    if (next.done) return next;
    this.#awaited += clock.monotonic() - begun;
    this.length += next.value.length;
    if (this.#awaited > total + this.length / MIN_BYTES_PER_MS) throw tooSlow(this.length, this.#awaited);
    return next;
  }
}

function tooSlow(length: number, ms: number): S3Fault {
  return new S3Fault('Silent', `it sent only ${length} bytes in ${Math.round(ms)} ms`);
}
