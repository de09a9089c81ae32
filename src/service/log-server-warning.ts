import type { Config } from '../config/config.ts';
import { clock } from '../tools/clock.ts';
import type { Logger } from '../tools/logger.ts';
import { askLogServer } from './backends/open-log.ts';

const RETRY_MS = 60_000;

/**
 * Warns once if the server that stores the log has a known defect. Retries every minute while the server cannot be
 * reached. Disposing of the result ends that.
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
      const server = await askLogServer(config.eventLog, stopped);
      if (server?.warning === undefined) return;
      return logger.warn({ reason: server.warning }, 'the event log server has a known defect');
    } catch {
      await clock.sleep(RETRY_MS, stopped).catch(() => undefined); // the readiness check reports why the log cannot be reached
    }
  }
}
