import {
  type Deliveries,
  type Delivery,
  type GroupStart,
  ISOLATION_TIMEOUT_MS,
  type ReceiveOptions,
} from '../event-log/consumer-groups/deliveries.ts';
import { type RecordedEvent, StaleRead } from '../event-log/event-log.ts';
import { ObjectError } from '../object-store/object-store.ts';
import { clock } from '../tools/clock.ts';
import { Backoff } from '../tools/concurrency/backoff.ts';
import type { Logger } from '../tools/logger.ts';
import { MAX_TRIES, maxAttempts, triesToGiveUp } from './attempt-limits.ts';
import { CountedTries, DeadlyEvent, type TryOnce } from './counted-tries.ts';
import { FairLimiter } from './fair-limiter.ts';
import type { EventLogParking } from './parking.ts';
import type { Reactor } from './reactor.ts';
import { retriesOf } from './reactor-names.ts';
import { type Failure, RepeatedWork } from './repeated-work.ts';

type RunnerOptions = {
  readonly deliveries: Pick<Deliveries, 'receive'>;
  readonly parking: EventLogParking;
  readonly logger: Logger;
  /** Slots of the work on streams at the same time; most work takes one. */
  readonly slots: number;
  /** Milliseconds before the first retry; doubled for each further one, up to 100 times this value. */
  readonly firstPause: number;
};

export type RunnerStatus = ReactorRunner['status'];

/**
 * Maximum number of streams with running or queued work. Events are small, so the limit is high: a client with many
 * events must not block those after them.
 */
const MAX_QUEUED_STREAMS = 5000;
/** How long running work may continue when the runner stops; aborted work is delivered again. */
const STOP_TIMEOUT_MS = 3000;

/** Backoff after errors that neither the reactor nor parking could handle, in units of `firstPause`. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [100, 2000];

/**
 * Runs one reactor: events in order per stream, several streams concurrently. A transient error is retried without
 * limit and with growing pauses, during which other streams are processed. Other errors end in the reactor's own
 * `giveUp`. If that fails too, or an object cannot be read, the event is parked, which blocks no other event.
 */
export class ReactorRunner {
  readonly #reactor: Reactor;
  readonly #options: RunnerOptions;
  readonly #stop = new AbortController();
  readonly #abort = new AbortController();
  /** The last queued work of each stream that has any. */
  readonly #streams = new Map<string, Promise<void>>();
  readonly #limiter: FairLimiter;
  readonly #work: RepeatedWork;
  /** Resolves when another stream may start. */
  #capacity: PromiseWithResolvers<void> | undefined;
  #running: Promise<void> | undefined;
  #done = 0;
  #parkedPromise: Promise<ReadonlySet<string>> | undefined;

  constructor(reactor: Reactor, options: RunnerOptions) {
    this.#reactor = reactor;
    this.#options = options;
    this.#limiter = new FairLimiter(options.slots, ISOLATION_TIMEOUT_MS);
    this.#work = new RepeatedWork({ ...options, reactor: reactor.name, signal: this.#stop.signal });
  }

  /**
   * Starts to receive events. Calls `failed` if receiving ends with an error. A reactor that never ran begins at
   * `start`.
   */
  start(failed: (error: unknown) => void, start?: GroupStart): void {
    this.#running = Promise.all([this.#receive(start), this.#receiveRetried()]).then(() => undefined, failed);
  }

  get name(): string {
    return this.#reactor.name;
  }

  /** Whether an event of this stream is running or queued here. */
  isWorkingOn(stream: string): boolean {
    return this.#streams.has(stream);
  }

  /** Handles an event that a sweep found not to be parked. Resolves once the queue accepts more. */
  handle(delivery: Delivery): Promise<void> {
    this.#parkedPromise = undefined; // it may have been parked before, and retried since
    return this.#queue(delivery, delivery.event);
  }

  /** Returns the ids of the events that wait for an operator, or that an operator has skipped. */
  parked(): Promise<ReadonlySet<string>> {
    return this.#options.parking.parkedOrSkipped(this.#reactor.name);
  }

  get streamPrefix(): string {
    return this.#reactor.streamPrefix;
  }

  /** The number of streams with running or queued work, and those of completed events and failed attempts since the start. */
  get status() {
    const { failures, lastError } = this.#work;
    return { name: this.name, underWay: this.#streams.size, done: this.#done, failures, lastError };
  }

  /** Stops receiving. Resolves once all running work has ended or was aborted. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const timer = clock.setTimeout(() => {
      this.#abort.abort();
      this.#work.abort();
    }, STOP_TIMEOUT_MS);
    await this.#running;
    await Promise.all(this.#streams.values());
    clock.clearTimeout(timer);
  }

  async #receive(start?: GroupStart): Promise<void> {
    const { name, streamPrefix } = this.#reactor;
    const options: ReceiveOptions = {
      start,
      concerns: (event) => this.#concerns(event),
      hasWork: (event) => this.#reactor.hasWork(event),
    };
    const received = this.#options.deliveries.receive(name, streamPrefix, this.#stop.signal, options);
    for await (const delivery of received) await this.#queue(delivery, delivery.event);
  }

  /** Whether the event has to be handled. One whose work is done already counts as handled. */
  #concerns(event: RecordedEvent): boolean {
    if (this.#reactor.reactsTo(event)) return true;
    if (this.#reactor.isDone?.(event)) this.#done += 1;
    return false;
  }

  /** Receives the decisions of operators about parked events. */
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

  /**
   * Queues an event after other work of its stream, scheduled fairly among owners. Resolves once the queue accepts
   * more.
   */
  async #queue(delivery: Delivery, event: RecordedEvent): Promise<void> {
    const { stream } = event;
    const before = this.#streams.get(stream) ?? Promise.resolve();
    const work = before.then(() => this.#untilHandled(delivery, event));
    this.#streams.set(stream, work);
    void work.then(() => {
      if (this.#streams.get(stream) === work) this.#streams.delete(stream);
      this.#capacity?.resolve();
      this.#capacity = undefined;
    });
    while (this.#streams.size >= MAX_QUEUED_STREAMS)
      await (this.#capacity ??= Promise.withResolvers()).promise;
  }

  /** Handles a delivery, again after a pause if that ends in an error. Never rejects. */
  async #untilHandled(delivery: Delivery, event: RecordedEvent): Promise<void> {
    const { signal } = this.#stop;
    const { firstPause: unit } = this.#options;
    const backoff = new Backoff({ firstPause: FIRST_PAUSE * unit, longestPause: LONGEST_PAUSE * unit });
    while (!signal.aborted) {
      const owner = await this.#reactor.ownerOf(event).catch(() => event.stream); // while it cannot be read
      if (await this.#handle(delivery, owner)) return;
      await clock.sleep(backoff.next(), signal).catch(() => undefined);
    }
  }

  /** Resolves to whether the delivery is settled here. Never rejects. */
  async #handle(delivery: Delivery, owner: string): Promise<boolean> {
    const { signal } = this.#stop;
    const slots = this.#reactor.slotsOf?.(delivery.event) ?? 1;
    const tries = new CountedTries({ delivery, owner, limiter: this.#limiter, slots, signal });
    try {
      const event = await this.#eventOf(delivery);
      if (event) await tries.run((tryOnce) => this.#reactOrPark(event, tryOnce));
      else await delivery.acknowledge();
      this.#done += 1;
      return true;
    } catch (error) {
      if (signal.aborted) {
        // an orderly stop is no crash: the start of this work does not count
        if (tries.haveBegun) await delivery.handBack?.().catch(() => undefined);
        return true;
      }
      const { stream, type, position } = delivery.event;
      const fields = { reactor: this.name, stream, type, position, err: error };
      this.#options.logger.error(fields, 'event not handled, retrying later');
      return false;
    }
  }

  /**
   * Returns the event to react to: for the decision to retry a parked event, the original event. Returns `undefined`
   * for an event that was parked already and is delivered again, as after a migration to another log.
   */
  async #eventOf({ event }: Delivery): Promise<RecordedEvent | undefined> {
    const { parking } = this.#options;
    const { name } = this.#reactor;
    let original: RecordedEvent | undefined;
    const find = async (): Promise<void> => {
      if (event.stream === parking.streamOf(name)) original = await parking.eventToRetry(event);
      else if (!(await this.#parkedBefore()).has(event.id)) original = event;
    };
    const failure = await this.#work.run(event, find, () => MAX_TRIES);
    if (failure) throw failure.error;
    return original;
  }

  /** Returns the parked events as of the first delivery, or of the first one after {@link handle} was called. */
  #parkedBefore(): Promise<ReadonlySet<string>> {
    this.#parkedPromise ??= this.#options.parking
      .parkedOrSkipped(this.#reactor.name)
      .catch((error: unknown) => {
        this.#parkedPromise = undefined;
        throw error;
      });
    return this.#parkedPromise;
  }

  /** Reacts to the event. What fails for good is given up by the reactor, or parked. */
  async #reactOrPark(event: RecordedEvent, tryOnce: TryOnce): Promise<void> {
    const react = (): Promise<void> => tryOnce(() => this.#reactor.react(event, this.#abort.signal));
    const failure = await this.#work.run(event, react, maxAttempts);
    if (!failure) return;
    const toPark = await this.#giveUp(event, failure);
    const { error, tries } = failure;
    if (toPark) await this.#park(event, toPark.error, error instanceof DeadlyEvent ? error.begun : tries);
  }

  /** Has the reactor end its work on the event. Returns the failure with which the event is parked, if any. */
  async #giveUp(event: RecordedEvent, failure: Failure): Promise<Failure | undefined> {
    const { error } = failure;
    // The log may show the event again: its deposit does not end because of a fault of the log.
    if (error instanceof DeadlyEvent || error instanceof StaleRead) return failure;
    const giveUp = (): Promise<void> => this.#reactor.giveUp(event, error);
    const notGivenUp = await this.#work.run(event, giveUp, triesToGiveUp);
    return error instanceof ObjectError ? failure : notGivenUp;
  }

  async #park(event: RecordedEvent, error: unknown, tries: number): Promise<void> {
    const park = (): Promise<void> => this.#options.parking.park(this.#reactor.name, event, error, tries);
    const failure = await this.#work.run(event, park, () => MAX_TRIES);
    if (failure) throw failure.error;
  }
}
