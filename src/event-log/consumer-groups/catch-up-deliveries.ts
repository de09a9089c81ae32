import { once } from 'node:events';
import { makeDirectory } from '../../tools/files/make-directory.ts';
import type { EventLog, Position, RecordedEvent } from '../event-log.ts';
import { CatchUpPosition } from './catch-up-position.ts';
import { CrashCounter } from './crash-counter.ts';
import type { Deliveries, Delivery, GroupStatus, ReceiveOptions } from './deliveries.ts';
import { lagAfter, MAX_COUNTED } from './lag.ts';

/**
 * Delivers the events of consumer groups within one process: a subscription from a stored position, with the events
 * that are not acknowledged yet. The position is saved at most once a second, and when the receiver has stopped. If it
 * is lost or old, events are only delivered again. After two crashes in a row, events that may have been in flight must
 * be processed exclusively, and are counted before.
 */
export class CatchUpDeliveries implements Deliveries {
  readonly #log: EventLog;
  readonly #folder: string;
  readonly #receiving = new Map<
    string,
    { readonly groupPosition: CatchUpPosition; readonly crashes: CrashCounter }
  >();
  readonly #lastErrors = new Map<string, string | undefined>();

  /** @param folder folder of the stored positions, one file per group. */
  constructor(log: EventLog, folder: string) {
    this.#log = log;
    this.#folder = folder;
  }

  lastError(group: string): string | undefined {
    return this.#lastErrors.get(group);
  }

  redelivery(group: string, event: RecordedEvent): Delivery {
    const crashes = this.#receiving.get(group)?.crashes;
    return {
      event,
      begin: async (how) => (crashes ? crashes.begin(event.position, how) : 1),
      acknowledge: async () => crashes?.completed(event.position),
    };
  }

  /** Returns the exact status while this process receives the group; otherwise the status of the last save. */
  async status(group: string, streamPrefix: string): Promise<GroupStatus> {
    const groupPosition =
      this.#receiving.get(group)?.groupPosition ??
      (await CatchUpPosition.open(this.#folder, group, this.#log));
    const later = await lagAfter(this.#log, groupPosition.last, streamPrefix);
    const { position, inFlight } = groupPosition;
    const oldest = inFlight.oldest ?? later.oldest;
    if (later.count === undefined && inFlight.count === 0) return { position, waiting: undefined, oldest };
    return { position, waiting: Math.min(inFlight.count + (later.count ?? 0), MAX_COUNTED), oldest };
  }

  async *receive(
    group: string,
    streamPrefix: string,
    signal: AbortSignal,
    { start, concerns = () => true }: ReceiveOptions = {},
  ): AsyncGenerator<Delivery> {
    const head = await this.#log.head();
    makeDirectory(this.#folder);
    await using groupPosition = await CatchUpPosition.open(this.#folder, group, this.#log);
    groupPosition.rewindToLastDelivered();
    if (signal.aborted) return;
    if (groupPosition.last === undefined && start) {
      const begin = await Promise.race([start(), once(signal, 'abort')]);
      if (signal.aborted) return;
      groupPosition.moveTo(begin as Position | undefined); // the group starts there, also after a restart
    }
    await groupPosition.save(); // a position of another log must not count once this log has grown beyond it
    await using crashes = await CrashCounter.open(this.#folder, group, {
      position: groupPosition.position,
      head,
    });
    this.#receiving.set(group, { groupPosition, crashes });
    try {
      const onLastError = (reason: string | undefined): void => {
        this.#lastErrors.set(group, reason);
      };
      const options = { after: groupPosition.position, streamPrefixes: [streamPrefix], signal, onLastError };
      for await (const message of this.#log.subscribe(options)) {
        if (message.kind === 'caught-up') {
          groupPosition.moveTo(message.position);
          crashes.clearIfPassed(groupPosition.position);
        } else {
          for (const event of message.events) {
            if (signal.aborted) return;
            if (groupPosition.isDone(event)) continue;
            if (concerns(event)) yield trackedDelivery(event, groupPosition, crashes, signal);
            else groupPosition.skip(event);
          }
          crashes.clearIfPassed(groupPosition.position);
        }
      }
    } finally {
      this.#receiving.delete(group);
    }
  }
}

function trackedDelivery(
  event: RecordedEvent,
  groupPosition: CatchUpPosition,
  crashes: CrashCounter,
  signal: AbortSignal,
): Delivery {
  const { position } = event;
  const done = groupPosition.begin(event);
  const acknowledge = async (): Promise<void> => {
    done();
    // Within a second the process may end, or crash at the next event.
    if (signal.aborted || crashes.isCounted(position)) await groupPosition.save();
    await crashes.completed(position);
    crashes.clearIfPassed(groupPosition.position);
  };
  return { event, begin: (how) => crashes.begin(position, how), acknowledge };
}
