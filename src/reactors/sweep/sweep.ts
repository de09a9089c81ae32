import { once } from 'node:events';
import { addAbortSignal } from 'node:stream';
import { newContext } from '../../deposits/command-handler.ts';
import type { Deliveries } from '../../event-log/consumer-groups/deliveries.ts';
import { type EventLog, occurredAt, type Position, type RecordedEvent } from '../../event-log/event-log.ts';
import { ObjectError, type ObjectStore } from '../../object-store/object-store.ts';
import { clock } from '../../tools/clock.ts';
import type { Logger } from '../../tools/logger.ts';
import type { EventLogParking } from '../parking.ts';
import type { ReactorRunner } from '../reactor-runner.ts';
import type { NotificationViews } from './notification-views.ts';
import { stuckDeposits } from './stuck-deposits.ts';
import { UnreadableDeposits } from './unreadable-deposits.ts';
import { UnsentNotifications } from './unsent-notifications.ts';

type SweepOptions = {
  readonly log: EventLog;
  readonly deliveries: Pick<Deliveries, 'redelivery' | 'status'>;
  readonly views: NotificationViews;
  /** Resolves when the views have caught up. */
  readonly ready: Promise<void>;
  /** The checker, the loader and the notifier. */
  readonly runners: readonly ReactorRunner[];
  readonly logger: Logger;
  /** Milliseconds without a change after which a deposit or a notification is examined. */
  readonly stuckAfter: number;
  readonly giveUpAfter: number;
  readonly parking: Pick<EventLogParking, 'waiting' | 'retry'>;
  readonly store: Pick<ObjectStore, 'get' | 'ready'>;
};

type GroupPositions = ReadonlyMap<string, Position | undefined>;

/** Delay after the start, and maximum interval between two runs. */
const [FIRST_AFTER_MS, EVERY_MS] = [10_000, 600_000];
/** Interval between two reads of the objects for which events are parked. */
const OBJECTS_EVERY_MS = 60_000;
/** After a slow run the pause is four times the duration of the run, up to the interval of sweeps. */
const PAUSE_FACTOR = 4;
/**
 * Events not yet acknowledged by the group are left to it for this long; after that, their consumer must have failed.
 */
const LEFT_TO_GROUP_MS = 3_600_000;

/**
 * Finds work that no delivery announced, and starts it: deposits that wait for the checker or the loader, and
 * notifications that were not sent. Each passes through the same queue as a delivery, is counted and parked like one,
 * and reads the current state of its stream first. So several nodes may sweep at the same time.
 */
export class Sweep implements AsyncDisposable {
  readonly #options: SweepOptions;
  readonly #stop = new AbortController();
  readonly #unsent: UnsentNotifications;
  readonly #unreadable: UnreadableDeposits;
  readonly #running: Promise<void>;
  #begun = 0;

  constructor(options: SweepOptions) {
    this.#options = options;
    this.#unreadable = new UnreadableDeposits(options.log, options.logger);
    this.#unsent = new UnsentNotifications({ ...options, unreadable: this.#unreadable });
    this.#running = this.#run();
  }

  /** Number of events that sweeps of this node have started to process since the start. */
  get begun(): number {
    return this.#begun;
  }

  get unrecorded(): UnsentNotifications['unrecorded'] {
    return this.#unsent.unrecorded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { ready, stuckAfter } = this.#options;
    await Promise.race([ready.catch(() => this.#stop.abort()), once(this.#stop.signal, 'abort')]);
    await this.#pause(Math.min(FIRST_AFTER_MS, stuckAfter));
    await Promise.all([
      this.#repeat(
        () => this.#sweep(),
        () => Math.min(EVERY_MS, stuckAfter),
      ),
      this.#repeat(
        () => this.#retryReadable(),
        (took) => Math.max(Math.min(OBJECTS_EVERY_MS, stuckAfter), Math.min(PAUSE_FACTOR * took, EVERY_MS)),
      ),
    ]);
  }

  /** Repeats work until the sweep stops. `pauseAfter` gets the duration of the work. Both are in milliseconds. */
  async #repeat(work: () => Promise<void>, pauseAfter: (took: number) => number): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const begun = clock.monotonic();
      try {
        await work();
      } catch (err) {
        if (!this.#stop.signal.aborted) this.#options.logger.warn({ err }, 'sweep failed, retrying later');
      }
      await this.#pause(pauseAfter(clock.monotonic() - begun));
    }
  }

  /**
   * Reads each object for which an event is parked, and has the reactor retry the event if the object is intact.
   * @throws {ObjectStoreUnavailable} @throws {EventLogUnavailable} @throws the reason of the signal
   */
  async #retryReadable(): Promise<void> {
    const { runners, parking, store } = this.#options;
    const { signal } = this.#stop;
    for (const { name } of runners) {
      for (const parked of await parking.waiting(name)) {
        signal.throwIfAborted();
        if (parked.object === undefined || !(await isReadable(store, parked.object, signal))) continue;
        await parking.retry(parked, newContext({ kind: 'service', name: 'sweep' }));
      }
    }
  }

  async #sweep(): Promise<void> {
    const { log, views, stuckAfter, logger } = this.#options;
    const { signal } = this.#stop;
    const limit = new Date(clock.now() - stuckAfter).toISOString();
    const before = this.#begun;
    const positions = await this.#groupPositions();
    const stuck = stuckDeposits(log, views.statuses, limit, this.#unreadable, signal);
    for await (const { reactor, event } of stuck) await this.#begin(reactor, event, positions);
    for await (const event of this.#unsent.find(limit, signal))
      await this.#begin('notifier', event, positions);
    if (!signal.aborted) this.#unreadable.sweepEnded();
    const [begun, { count: unrecorded }] = [this.#begun - before, this.unrecorded];
    if (begun > 0) logger.warn({ begun, unrecorded }, 'work without a delivery started');
  }

  async #begin(reactor: string, event: RecordedEvent, positions: GroupPositions): Promise<void> {
    const runner = this.#options.runners.find(({ name }) => name === reactor);
    if (!runner || runner.isWorkingOn(event.stream)) return;
    if (isLeftToGroup(event, positions.get(reactor))) return;
    if ((await runner.parked()).has(event.id)) return;
    this.#begun += 1;
    await runner.handle(this.#options.deliveries.redelivery(reactor, event));
  }

  async #groupPositions(): Promise<GroupPositions> {
    const { runners, deliveries } = this.#options;
    const standings = runners.map(async ({ name, streamPrefix }) => {
      const { position } = await deliveries.status(name, streamPrefix);
      return [name, position] as const;
    });
    return new Map(await Promise.all(standings));
  }

  async #pause(milliseconds: number): Promise<void> {
    await clock.sleep(milliseconds, this.#stop.signal).catch(() => undefined);
  }
}

/** Whether an event is left to its group: events after the group's position are pending or being processed. */
function isLeftToGroup(event: RecordedEvent, position: Position | undefined): boolean {
  if (Date.parse(occurredAt(event)) < clock.now() - LEFT_TO_GROUP_MS) return false;
  return position === undefined || position < event.position;
}

/** @throws {ObjectStoreUnavailable} the store can be used for no object */
async function isReadable(
  store: SweepOptions['store'],
  sha256: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { body } = await store.get(sha256);
    for await (const _chunk of addAbortSignal(signal, body));
    return true;
  } catch (error) {
    if (error instanceof ObjectError) return false;
    signal.throwIfAborted();
    await store.ready();
    return false; // the store is available, but not this object, as when some of its drives are away
  }
}
