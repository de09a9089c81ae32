import type { Logger } from '../logger.ts';
import { clock } from '../tools/clock.ts';

/** For requests under way to end, in milliseconds; a little more than the service grants them. */
const PATIENCE = 30_000;

/**
 * Rejects at the first exception that nobody caught, for the service to stop in order: it takes no more requests and
 * is not ready. At a second one, or when stopping takes too long, the process ends at once. The exit code is 1.
 */
export function uncaughtExceptions(logger: Logger): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined); // whoever waits for it hears of it
  let stopping = false;
  process.on('uncaughtException', (error, origin) => {
    logger.error({ err: error, origin }, 'uncaught exception');
    if (stopping) process.exit(1);
    stopping = true;
    clock.setTimeout(() => process.exit(1), PATIENCE).unref();
    reject(error);
  });
  return promise;
}
