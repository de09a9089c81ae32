import type { EventLog } from '../event-log/event-log.ts';
import { inTime } from '../in-time.ts';
import type { Logger } from '../logger.ts';
import { clock } from '../tools/clock.ts';
import { Anchorer, type AnchorerOptions, NothingToAnchor } from './anchorer.ts';

export type AnchoringOptions = AnchorerOptions & {
  /** Minutes from one anchor to the next; 0: none are made. */
  readonly anchorInterval: number;
};

/** Where anchors are made: disposing of it ends that. */
export type Anchoring = AsyncDisposable & {
  /** Seconds from one anchor to the next; 0: none are made. */
  readonly interval: number;
  /** Seconds since the log was last found, or made, anchored to its end, or else since the start; 0: none are made. */
  readonly age: number;
};

const MINUTE = 60_000;
/** For an anchor that is being made, in milliseconds. */
const STOP_PATIENCE = 3000;

/**
 * Makes an anchor a minute after the start, however long the interval, lest a service that is often started anew
 * makes none, and from then on now and then. What keeps one from being made is told in the service's log, and it is
 * tried again at the next time.
 */
export function startAnchoring(log: EventLog, options: AnchoringOptions, logger: Logger): Anchoring {
  const stopped = new AbortController();
  const anchorer = new Anchorer(log, options);
  let [underWay, anchoredAt] = [Promise.resolve(), clock.monotonic()];
  const anchorOnce = async (): Promise<void> => {
    try {
      await anchorIfNeeded();
      anchoredAt = clock.monotonic();
    } catch (error) {
      if (stopped.signal.aborted) return;
      logger.error({ error: error instanceof Error ? error.message : String(error) }, 'no anchor made');
    }
  };
  const anchorIfNeeded = async (): Promise<void> => {
    try {
      const { anchor, made } = await anchorer.anchor(stopped.signal);
      if (made) logger.info({ events: anchor.events, root: anchor.root }, 'anchor');
    } catch (error) {
      if (!(error instanceof NothingToAnchor)) throw error;
    }
  };
  const again = (): void => {
    underWay = underWay.then(anchorOnce);
  };
  const interval = options.anchorInterval * MINUTE;
  const timers = [
    ...(interval > 0 ? [clock.setInterval(again, interval)] : []),
    ...(interval > MINUTE ? [clock.setTimeout(again, MINUTE)] : []),
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
      await inTime(underWay, STOP_PATIENCE); // it fails when the log is closed
    },
  };
}
