import { ObjectError, ObjectMissing } from '../archive-store/archive-store.ts';
import { type Deliveries, type Delivery, type GroupStart, PATIENCE_ALONE } from '../event-log/deliveries.ts';
import type { RecordedEvent } from '../event-log/event-log.ts';
import { pauseAfter } from '../growing-pause.ts';
import type { Logger } from '../logger.ts';
import { clock } from '../tools/clock.ts';
import { CountedTries, DeadlyEvent, type TryOnce } from './counted-tries.ts';
import type { Parking, Reactor } from './reactor.ts';
import { retriesOf } from './reactor-names.ts';
import { RepeatedWork } from './repeated-work.ts';
import { Slots } from './slots.ts';

export type RunnerOptions = {
  readonly deliveries: Pick<Deliveries, 'receive'>;
  readonly parking: Parking;
  readonly logger: Logger;
  /** How many streams are worked on at the same time. */
  readonly concurrency: number;
  /** Milliseconds after the first failed try; doubled each time, up to a hundred times as much. */
  readonly firstPause?: number;
};

export type RunnerStanding = {
  readonly name: string;
  /** Streams that are worked on or wait for it. */
  readonly underWay: number;
  /** Events that are done with, and tries that failed, since the start. */
  readonly done: number;
  readonly failures: number;
  readonly lastError: { readonly at: string; readonly stream: string; readonly message: string } | null;
};

/** Small events that are held and wait, so that a client's long line does not keep those behind it out. */
const MAX_UNDER_WAY = 5000;
/** Tries of work that fails for a reason that time alone does not heal. */
const MAX_TRIES = 5;
/** Tries of work for which an object is missing: about four minutes, in which a store may show it again. */
const MISSING_TRIES = 15;
/** How long work under way may go on when the runner stops, in milliseconds; cut off, it comes again. */
const STOP_PATIENCE = 3000;

/** Pauses after errors that neither the reactor nor the parking of its event could end, in first pauses of a try. */
const AFTER_ERROR = { firstPause: 100, longestPause: 2000 };

/**
 * Runs one reactor: in order per stream, several streams at a time. A transient fault is tried again for ever
 * with growing pauses, in which other streams are worked on; other failures end in the reactor's own `giveUp`. If even
 * that fails, or an object cannot be read, the event is parked, which blocks nothing else.
 */
export class ReactorRunner {
  readonly #reactor: Reactor;
  readonly #options: RunnerOptions;
  readonly #stop = new AbortController();
  readonly #cut = new AbortController();
  /** The last work queued of each stream that has any. */
  readonly #streams = new Map<string, Promise<void>>();
  readonly #slots: Slots;
  readonly #work: RepeatedWork;
  /** Resolves when another stream may be begun. */
  #room: PromiseWithResolvers<void> | undefined;
  #running: Promise<void> | undefined;
  #done = 0;
  #left: Promise<ReadonlySet<string>> | undefined;

  constructor(reactor: Reactor, options: RunnerOptions) {
    this.#reactor = reactor;
    this.#options = options;
    this.#slots = new Slots(options.concurrency, PATIENCE_ALONE);
    this.#work = new RepeatedWork({ ...options, reactor: reactor.name, signal: this.#stop.signal });
  }

  /** `failed` is called if receiving events ends with an error. A reactor that never ran begins at `start`. */
  start(failed: (error: unknown) => void, start?: GroupStart): void {
    this.#running = Promise.all([this.#receive(start), this.#receiveRetried()]).then(() => undefined, failed);
  }

  get name(): string {
    return this.#reactor.name;
  }

  /** Whether an event of this stream is in work here, or waits for it. */
  isWorkingOn(stream: string): boolean {
    return this.#streams.has(stream);
  }

  /** Handles a delivery like those that are received. Resolves when there is room for more. */
  handle(delivery: Delivery): Promise<void> {
    return this.#queue(delivery, delivery.event);
  }

  /** Ids of the events that wait for an operator now, or that one decided to skip. */
  parked(): Promise<ReadonlySet<string>> {
    return this.#options.parking.left(this.#reactor.name);
  }

  /** Of the streams it follows. */
  get streamPrefix(): string {
    return this.#reactor.streamPrefix;
  }

  /** How it is: for those who watch the service. */
  get standing(): RunnerStanding {
    const { failures, lastError } = this.#work;
    return { name: this.name, underWay: this.#streams.size, done: this.#done, failures, lastError };
  }

  /** Takes no more events and resolves when what is under way has ended or been cut off. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const timer = clock.setTimeout(() => {
      this.#cut.abort();
      this.#work.cut();
    }, STOP_PATIENCE);
    await this.#running;
    await Promise.all(this.#streams.values());
    clock.clearTimeout(timer);
  }

  async #receive(start?: GroupStart): Promise<void> {
    const { name, streamPrefix } = this.#reactor;
    const { signal } = this.#stop;
    for await (const delivery of this.#options.deliveries.receive(name, streamPrefix, signal, start)) {
      if (!this.#reactor.reactsTo(delivery.event)) await delivery.acknowledge();
      else await this.#queue(delivery, delivery.event);
    }
  }

  /** Decisions of operators about parked events. */
  async #receiveRetried(): Promise<void> {
    const { deliveries, parking } = this.#options;
    const { name } = this.#reactor;
    const stream = parking.streamOf(name);
    for await (const delivery of deliveries.receive(retriesOf(name), stream, this.#stop.signal)) {
      const { event } = delivery;
      if (event.stream !== stream) await delivery.acknowledge();
      else await this.#queue(delivery, (await this.#eventOf(delivery).catch(() => undefined)) ?? event);
    }
  }

  /** In order with other work of the stream of `event`, in the turns of its owner. Resolves when there is room for more. */
  async #queue(delivery: Delivery, event: RecordedEvent): Promise<void> {
    const { stream } = event;
    const before = this.#streams.get(stream) ?? Promise.resolve();
    const work = before.then(() => this.#untilHandled(delivery, event));
    this.#streams.set(stream, work);
    void work.then(() => {
      if (this.#streams.get(stream) === work) this.#streams.delete(stream);
      this.#room?.resolve();
      this.#room = undefined;
    });
    while (this.#streams.size >= MAX_UNDER_WAY) await this.#roomForMore();
  }

  /** Never rejects. Work that ends in an error begins again after a pause. */
  async #untilHandled(delivery: Delivery, event: RecordedEvent): Promise<void> {
    const { signal } = this.#stop;
    const { firstPause = 300 } = this.#options;
    for (let failures = 1; !signal.aborted; failures += 1) {
      if (await this.#handle(delivery, await this.#ownerOf(event))) return;
      const pause = firstPause * pauseAfter(failures, AFTER_ERROR);
      await clock.sleep(pause, signal).catch(() => undefined);
    }
  }

  #roomForMore(): Promise<void> {
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  /** Where it is not known now, each stream is its own. */
  async #ownerOf(event: RecordedEvent): Promise<string> {
    return this.#reactor.ownerOf(event).catch(() => event.stream);
  }

  /** Resolves to whether the delivery needs nothing more here. Never rejects. */
  async #handle(delivery: Delivery, owner: string): Promise<boolean> {
    const { signal } = this.#stop;
    const tries = new CountedTries({ delivery, owner, slots: this.#slots, signal });
    try {
      const event = await this.#eventOf(delivery);
      if (event) await tries.run((tryOnce) => this.#persist(event, tryOnce));
      else await delivery.acknowledge();
      this.#done += 1;
      return true;
    } catch (error) {
      if (signal.aborted) {
        if (tries.haveBegun) await delivery.handBack?.().catch(() => undefined); // then it counts, as after a death
        return true;
      }
      this.#options.logger.error(
        { ...this.#about(delivery.event), err: error },
        'event not handled, tried again later',
      );
      return false;
    }
  }

  /**
   * The event to react to: what an operator wants to be tried again is handled as if it had just come. None that was
   * parked before the start and comes again, as after a move to another log.
   */
  async #eventOf({ event }: Delivery): Promise<RecordedEvent | undefined> {
    const { parking } = this.#options;
    const { name } = this.#reactor;
    let original: RecordedEvent | undefined;
    const find = async (): Promise<void> => {
      if (event.stream === parking.streamOf(name)) original = await parking.retried(event);
      else if (!(await this.#leftBefore()).has(event.id)) original = event;
    };
    const failure = await this.#work.run(event, find, () => MAX_TRIES);
    if (failure) throw failure.error;
    return original;
  }

  /** As of the start, for all who ask. */
  #leftBefore(): Promise<ReadonlySet<string>> {
    this.#left ??= this.#options.parking.left(this.#reactor.name).catch((error: unknown) => {
      this.#left = undefined;
      throw error;
    });
    return this.#left;
  }

  async #persist(event: RecordedEvent, tryOnce: TryOnce): Promise<void> {
    const react = (): Promise<void> => tryOnce(() => this.#reactor.react(event, this.#cut.signal));
    const failure = await this.#work.run(event, react, triesOf);
    if (!failure) return;
    const { error } = failure;
    const giveUp = (): Promise<void> => this.#reactor.giveUp(event, error);
    const second = error instanceof DeadlyEvent ? failure : await this.#work.run(event, giveUp, () => 1);
    const toPark = error instanceof ObjectError ? failure : second;
    if (!toPark) return;
    const park = (): Promise<void> => this.#options.parking.park(this.#reactor.name, event, toPark.error);
    const third = await this.#work.run(event, park, () => MAX_TRIES);
    if (third) throw third.error;
  }

  /** Which event it is, for the log. */
  #about({ stream, type, position }: RecordedEvent) {
    return { reactor: this.#reactor.name, stream, type, position };
  }
}

function triesOf(error: unknown): number {
  if (error instanceof DeadlyEvent) return 1;
  return error instanceof ObjectMissing ? MISSING_TRIES : MAX_TRIES;
}
