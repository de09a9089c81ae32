import type { EventLog } from '../event-log/event-log.ts';
import type { Logger } from '../logger.ts';
import { Anchorer, type AnchorerOptions, NothingToAnchor } from './anchorer.ts';

export type AnchoringOptions = AnchorerOptions & {
  /** Minutes from one anchor to the next; 0: none are made. */
  readonly anchorInterval: number;
};

const MINUTE = 60_000;

/**
 * Makes an anchor now and then while a service runs. What keeps one from being made is told in the service's log,
 * and it is tried again at the next time.
 */
export function startAnchoring(log: EventLog, options: AnchoringOptions, logger: Logger): AsyncDisposable {
  const stopped = new AbortController();
  const anchorer = new Anchorer(log, options);
  let underWay = Promise.resolve();
  const anchorOnce = async (): Promise<void> => {
    try {
      const { anchor, made } = await anchorer.anchor(stopped.signal);
      if (made) logger.info({ events: anchor.events, root: anchor.root }, 'anchor');
    } catch (error) {
      if (stopped.signal.aborted || error instanceof NothingToAnchor) return;
      logger.error({ error: error instanceof Error ? error.message : String(error) }, 'no anchor made');
    }
  };
  const again = (): void => {
    underWay = underWay.then(anchorOnce);
  };
  const { anchorInterval } = options;
  const timer = anchorInterval > 0 ? setInterval(again, anchorInterval * MINUTE).unref() : undefined;
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      clearInterval(timer);
      stopped.abort();
      await underWay;
    },
  };
}
