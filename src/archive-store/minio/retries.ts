import { clock } from '../../tools/clock.ts';
import { hasCode } from '../unavailable.ts';
import { faultOf, isPassing } from './fault.ts';

/** Milliseconds before a request is made again after a fault that may be over by then. */
const PAUSES = [100, 400];

/** Milliseconds between requests to a server that refuses connections. */
const REFUSED_PAUSE = 250;

/**
 * Makes a request, and again when the store was busy or the connection broke. A server that refuses connections is
 * asked for `restart` milliseconds: one that restarts does so for a few seconds.
 * @throws what went wrong in the end, as {@link faultOf} has it
 */
export async function withRetries<T>(work: () => Promise<T>, restart: number): Promise<T> {
  const begun = clock.monotonic();
  let failures = 0;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const fault = faultOf(error);
      const isRefused = hasCode(fault, 'ECONNREFUSED');
      const isOver = isRefused ? clock.monotonic() - begun > restart : !isPassing(fault);
      const wait = isRefused ? REFUSED_PAUSE : PAUSES[failures];
      if (isOver || wait === undefined) throw fault;
      failures = isRefused ? 0 : failures + 1; // a server that is back may be busy at first
      await clock.sleep(wait);
    }
  }
}
