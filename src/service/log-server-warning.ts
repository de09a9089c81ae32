import type { Config } from '../config.ts';
import { logServerOf } from '../engines.ts';
import { pausing } from '../event-log/pausing.ts';
import type { Logger } from '../logger.ts';

const RETRY_MS = 60_000;

/**
 * Warns once if the server that keeps the log has a defect that operators should know. A server that cannot be asked
 * now is asked again every minute. Disposing of the result ends that.
 */
export function warnOfLogServer(config: Pick<Config, 'eventLog'>, logger: Logger): Disposable {
  const stop = new AbortController();
  void warnOnce(config, logger, stop.signal);
  return { [Symbol.dispose]: () => stop.abort() };
}

async function warnOnce(
  config: Pick<Config, 'eventLog'>,
  logger: Logger,
  stopped: AbortSignal,
): Promise<void> {
  while (!stopped.aborted) {
    try {
      const server = await logServerOf(config, stopped);
      if (server?.warning === undefined) return;
      return logger.warn({ reason: server.warning }, 'the event log server has a known defect');
    } catch {
      await pausing(RETRY_MS, stopped); // readiness says why the log cannot be reached
    }
  }
}
