import { clock } from '../../tools/clock.ts';
import type { Logger } from '../../tools/logger.ts';

/** Time limit for requests in flight; slightly more than the service grants them. */
const STOP_TIMEOUT_MS = 30_000;

/**
 * Rejects at the first uncaught exception, so that the service stops in order: it accepts no more requests and is not
 * ready. At a second one, or when stopping takes too long, the process ends at once. The exit code is 1.
 */
export function onUncaughtException(logger: Logger): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined); // reported to the caller that awaits it
  let stopping = false;
  process.on('uncaughtException', (error, origin) => {
    logger.error({ err: error, origin }, 'uncaught exception');
    if (stopping) process.exit(1);
    stopping = true;
    clock.setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref();
    reject(error);
  });
  return promise;
}
