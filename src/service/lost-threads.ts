import type { Logger } from '../tools/logger.ts';
import { type LostThread, lostThreads } from '../tools/workers.ts';

/** Logs each thread of this process that ends by itself, until the result is disposed of. */
export function logLostThreads(logger: Logger): Disposable {
  const log = (lost: unknown): void =>
    logger.error(lost as LostThread, 'a thread ended: it is started again when it is needed');
  lostThreads.subscribe(log);
  return {
    [Symbol.dispose]: () => {
      lostThreads.unsubscribe(log);
    },
  };
}
