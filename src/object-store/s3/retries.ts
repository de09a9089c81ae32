import { clock } from '../../tools/clock.ts';
import { codeOf } from '../../tools/coded-error.ts';
import { faultOf, isPassing } from './s3-errors.ts';

/** Milliseconds before a request is repeated after a transient fault. */
export const PAUSES = [100, 400];

/** Milliseconds between requests to a server that refuses connections. */
const REFUSED_PAUSE = 250;

/**
 * Makes a request, and repeats it when the store was busy or the connection broke. A server that refuses connections is
 * retried for `restart` milliseconds, since a restart takes a few seconds.
 * @throws the last error, as {@link faultOf} returns it
 */
export async function withRetries<T>(work: () => Promise<T>, restart: number): Promise<T> {
  const begun = clock.monotonic();
  let failures = 0;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const fault = faultOf(error);
      const isRefused = codeOf(fault) === 'ECONNREFUSED';
      const isOver = isRefused ? clock.monotonic() - begun > restart : !isPassing(fault);
      const wait = isRefused ? REFUSED_PAUSE : PAUSES[failures];
      if (isOver || wait === undefined) throw fault;
      failures = isRefused ? 0 : failures + 1; // a server that is back may be busy at first
      await clock.sleep(wait);
    }
  }
}
