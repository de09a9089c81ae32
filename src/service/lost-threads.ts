import type { Logger } from '../tools/logger.ts';
import { RepeatedFaults } from '../tools/repeated-faults.ts';
import { type ThreadState, threadStates } from '../tools/workers.ts';

/** Milliseconds after which a thread that cannot start is logged again. */
const REPEAT_AFTER_MS = 60_000;

/**
 * Logs each thread of this process that ends by itself or cannot start, and that it works again, until the result is
 * disposed of.
 */
export function logLostThreads(logger: Logger): Disposable {
  const faults = new RepeatedFaults<string>(REPEAT_AFTER_MS);
  const log = (state: unknown): void => {
    const { thread, reason } = state as ThreadState;
    if (reason === undefined) {
      if (faults.isOver(thread)) logger.info({ thread }, 'the thread works again');
    } else if (faults.isNews(thread, reason))
      logger.error({ thread, reason }, 'a thread ended: it is started again when it is needed');
  };
  threadStates.subscribe(log);
  return {
    [Symbol.dispose]: () => {
      threadStates.unsubscribe(log);
    },
  };
}
