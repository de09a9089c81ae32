import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { clock } from '../../tools/clock.ts';
import { unavailable } from '../store-errors.ts';
import { faultOf, isBrokenOff, S3Fault } from './s3-errors.ts';
import type { Timeouts } from './transport.ts';

/** Minimum rate in bytes per millisecond, in addition to the time limit of any request. */
const MIN_BYTES_PER_MS = 16;

/** Requests the bytes of an object from this offset on. */
export type Opening = (from: number) => Promise<Readable>;

/**
 * Yields the bytes of an object as the store sends them. When the connection breaks, requests the rest,
 * provided that each attempt makes progress: a store may have been restarted.
 */
export async function* objectBytes(
  first: Readable,
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

/** Verifies that the answer begins at the requested offset, which a store may ignore. */
export function assertFrom(from: number, body: Readable): void {
  const { statusCode } = body as IncomingMessage; // minio's type is wider
  if (from === 0 || statusCode === 206) return;
  body.destroy();
  throw new S3Fault('NoRange', 'the connection broke off, and it does not send the rest of an object alone');
}

async function* paced(body: Readable, pace: Pace): AsyncGenerator<Buffer> {
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
