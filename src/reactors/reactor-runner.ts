import { setTimeout as sleep } from 'node:timers/promises';
import { type Deliveries, type Delivery, type GroupStart, PATIENCE_ALONE } from '../event-log/deliveries.ts';
import type { RecordedEvent } from '../event-log/event-log.ts';
import { pauseAfter } from '../growing-pause.ts';
import type { Logger } from '../logger.ts';
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
/** An event that was begun so often and never done with is not worked on any more. */
const MAX_BEGUN = 10;
/** How long work under way may go on when the runner stops, in milliseconds; cut off, it comes again. */
const STOP_PATIENCE = 3000;

/** Pauses after errors that neither the reactor nor the parking of its event could end, in first pauses of a try. */
const AFTER_ERROR = { firstPause: 100, longestPause: 2000 };

type Handled = 'handled' | 'must be alone' | 'failed';

/**
 * Runs one reactor: in order per stream, several streams at a time. A transient fault is tried again for ever
 * with growing pauses; other failures end in the reactor's own `giveUp`, and if even that fails the event is
 * parked, which blocks nothing else.
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
    const timer = setTimeout(() => {
      this.#cut.abort();
      this.#work.cut();
    }, STOP_PATIENCE);
    await this.#running;
    await Promise.all(this.#streams.values());
    clearTimeout(timer);
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

  /** Never rejects. Work that ends in an error begins again after a pause, without a slot in between. */
  async #untilHandled(delivery: Delivery, event: RecordedEvent): Promise<void> {
    const { signal } = this.#stop;
    const { firstPause = 300 } = this.#options;
    for (let failures = 1; !signal.aborted; failures += 1) {
      if ((await this.#handleInTurn(delivery, event)) === 'handled') return;
      const pause = firstPause * pauseAfter(failures, AFTER_ERROR);
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  async #handleInTurn(delivery: Delivery, event: RecordedEvent): Promise<Handled> {
    const owner = await this.#ownerOf(event);
    let handled: Handled = 'failed';
    let alone: Promise<void> | undefined;
    await this.#slots.run(owner, async () => {
      handled = await this.#handle(delivery, 'beside others');
      // It is in line to be alone before its place is free: else another would begin there, which it had to wait for.
      if (handled === 'must be alone')
        alone = this.#slots.runAlone(async () => {
          handled = await this.#handle(delivery, 'alone');
        });
    });
    await alone;
    return handled;
  }

  #roomForMore(): Promise<void> {
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  /** Where it is not known now, each stream is its own. */
  async #ownerOf(event: RecordedEvent): Promise<string> {
    return this.#reactor.ownerOf(event).catch(() => event.stream);
  }

  /** Never rejects. */
  async #handle(delivery: Delivery, how: 'alone' | 'beside others'): Promise<Handled> {
    let begun: number | undefined;
    try {
      const event = await this.#eventOf(delivery);
      if (event) {
        begun = await this.#begin(delivery, how);
        if (begun === undefined) return 'must be alone';
        await (begun > MAX_BEGUN ? this.#parkKiller(event, begun - 1) : this.#persist(event));
      }
      await delivery.acknowledge();
      this.#done += 1;
      return 'handled';
    } catch (error) {
      if (this.#stop.signal.aborted) {
        if (begun !== undefined) await delivery.handBack?.().catch(() => undefined); // then it counts, as after a death
        return 'handled';
      }
      const fields = { ...this.#about(delivery.event), begun, err: error };
      this.#options.logger.error(fields, 'event not handled, tried again later');
      return 'failed';
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
    const failure = await this.#work.run(event, find, MAX_TRIES);
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

  /** What cannot be counted is not begun: nobody would know of what the service dies. */
  async #begin(delivery: Delivery, how: 'alone' | 'beside others'): Promise<number | undefined> {
    let count: number | undefined;
    const begin = async (): Promise<void> => {
      count = await delivery.begin(how);
    };
    await this.#work.run(delivery.event, begin, Number.POSITIVE_INFINITY);
    return count;
  }

  /** Its workers died of it, or so it seems: nobody tries it again before an operator has looked. */
  async #parkKiller(event: RecordedEvent, count: number): Promise<void> {
    const cause = new Error(
      `It was begun ${count} times and never done with: the service may have died of it each time.`,
    );
    const failure = await this.#work.run(
      event,
      () => this.#options.parking.park(this.#reactor.name, event, cause),
      MAX_TRIES,
    );
    if (failure) throw failure.error;
  }

  async #persist(event: RecordedEvent): Promise<void> {
    const react = (): Promise<void> => this.#reactor.react(event, this.#cut.signal);
    const giveUp = (cause: unknown) => (): Promise<void> => this.#reactor.giveUp(event, cause);
    const park = (cause: unknown) => (): Promise<void> =>
      this.#options.parking.park(this.#reactor.name, event, cause);
    const failure = await this.#work.run(event, react, MAX_TRIES);
    const second = failure && (await this.#work.run(event, giveUp(failure.error), 1));
    const third = second && (await this.#work.run(event, park(second.error), MAX_TRIES));
    if (third) throw third.error;
  }

  /** Which event it is, for the log. */
  #about({ stream, type, position }: RecordedEvent) {
    return { reactor: this.#reactor.name, stream, type, position };
  }
}
