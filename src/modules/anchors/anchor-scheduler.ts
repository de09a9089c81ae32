import type { EventLog } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';
import { messageOf } from '../../tools/coded-error.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import type { Logger } from '../../tools/logger.ts';
import { type AnchorOptions, type LoggedAnchor, makeAnchor, NothingToAnchor } from './make-anchor.ts';

export type AnchoringOptions = AnchorOptions & {
  /** Minutes between two anchors; 0: no anchors. */
  readonly anchorInterval: number;
};

/** Handle of the scheduler; disposing of it stops anchoring. */
export type Anchoring = AsyncDisposable & {
  /** Seconds between two anchors; 0: no anchors. */
  readonly interval: number;
  /** Seconds since the log was last anchored to its end, or else since the start; 0 without anchors. */
  readonly age: number;
};

const MINUTE_MS = 60_000;
/** Milliseconds that a stop waits for an anchor in progress. */
const STOP_TIMEOUT_MS = 3000;

/**
 * Makes an anchor one minute after the start, and then at each interval. The early anchor covers services that restart
 * more often than the interval. Errors are logged and retried at the next time.
 */
export function startAnchoring(log: EventLog, options: AnchoringOptions, logger: Logger): Anchoring {
  const stopped = new AbortController();
  let [running, anchoredAt] = [Promise.resolve(), clock.monotonic()];
  const anchorOnce = async (): Promise<void> => {
    let isLogged = false;
    const onLogged = ({ anchor, made }: LoggedAnchor): void => {
      isLogged = true;
      if (made) logger.info({ events: anchor.events, root: anchor.root }, 'anchor');
    };
    try {
      await makeAnchor(log, options, { signal: stopped.signal, onLogged }).catch(ignoreEmptyLog);
      anchoredAt = clock.monotonic();
    } catch (error) {
      if (stopped.signal.aborted) return;
      const [file, reason] = [options.anchorFile, messageOf(error)];
      if (isLogged) logger.error({ file, error: reason }, 'anchor not written to the file');
      else logger.error({ error: reason }, 'no anchor created');
    }
  };
  const anchorNext = (): void => {
    running = running.then(anchorOnce);
  };
  const interval = options.anchorInterval * MINUTE_MS;
  const timers = [
    ...(interval > 0 ? [clock.setInterval(anchorNext, interval)] : []),
    ...(interval > MINUTE_MS ? [clock.setTimeout(anchorNext, MINUTE_MS)] : []),
  ];
  for (const timer of timers) timer.unref();
  return {
    interval: interval / 1000,
    get age() {
      return interval > 0 ? (clock.monotonic() - anchoredAt) / 1000 : 0;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      timers.forEach((timer) => clock.clearTimeout(timer));
      stopped.abort();
      await withTimeout(running, STOP_TIMEOUT_MS); // it fails when the log is closed
    },
  };
}

function ignoreEmptyLog(error: unknown): void {
  if (!(error instanceof NothingToAnchor)) throw error;
}
