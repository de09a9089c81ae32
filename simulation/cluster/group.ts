import { world } from '../world/world.ts';
import { Buckets } from './buckets.ts';
import { unavailable } from './client-fault.ts';
import { Consumer } from './consumer.ts';
import type { Connection, Leadership } from './leadership.ts';
import type { LibraryStream } from './library-stream.ts';
import type { ServerLog } from './server-log.ts';
import { nameOf, type StoredEvent } from './stored-event.ts';
import { isIn, type StreamFilter } from './subscriptions.ts';

type Waiting = { readonly event: StoredEvent; readonly retryCount: number; readonly before?: number };
type Outstanding = Required<Waiting> & { readonly consumer: Consumer };

export type GroupOptions = {
  readonly name: string;
  readonly filter: StreamFilter | undefined;
  /** The number of the event behind which a new group begins. */
  readonly start: number;
  readonly latency: () => number;
};

const CHECKPOINT_EVERY_MS = 2000;

/**
 * A persistent subscription to all streams with the strategy Pinned, by the rules of real servers. It also records
 * which unacknowledged events a checkpoint makes the server forget: that explains a deposit that is stuck.
 */
export class Group {
  readonly #log: ServerLog;
  readonly #leadership: Leadership;
  readonly #options: GroupOptions;
  /** Ids of the events that were acknowledged. */
  readonly acknowledged = new Set<string>();
  consumers: readonly Consumer[] = [];
  readonly forgotten: string[] = [];
  /** The number of the event that the server would load the group from. */
  checkpoint: number | undefined;
  readonly #buckets = new Buckets<Consumer>();
  #outstanding = new Map<string, Outstanding>();
  #retries: Waiting[] = [];
  #buffer: Waiting[] = [];
  #lastKnown = 0;
  #loads = 0;
  #isLoaded = false;
  #isPushing = false;

  constructor(log: ServerLog, leadership: Leadership, options: GroupOptions) {
    this.#log = log;
    this.#leadership = leadership;
    this.#options = options;
    this.#markLater();
    this.load();
  }

  get counts() {
    return {
      outstanding: this.#outstanding.size,
      retries: this.#retries.length,
      buffered: this.#buffer.length,
    };
  }

  /** Loads the group from its checkpoint, as a new leader does. The event at the checkpoint is skipped. */
  load(): void {
    this.#loads += 1;
    const load = this.#loads;
    for (const consumer of this.consumers) this.disconnect(consumer, true);
    this.#buffer = [];
    this.#retries = [];
    this.#outstanding = new Map();
    this.#lastKnown = this.checkpoint ?? 0;
    this.#isLoaded = false;
    world().schedule(world().networkRandom.between(2, 60), undefined, () => {
      if (load !== this.#loads) return;
      this.#readFromCheckpoint();
      this.#isLoaded = true;
      this.#pushLater();
    });
  }

  committed(event: StoredEvent): void {
    if (!this.#isLoaded) return; // found when it is loaded
    if (this.#isLeftOut(event)) this.#lastKnown = Math.max(this.#lastKnown, event.number);
    else {
      this.#buffer.push({ event, retryCount: 0 });
      this.#pushLater();
    }
  }

  connect(connection: Connection, size: number, out: LibraryStream): void {
    const consumer = new Consumer(connection, size, out);
    this.consumers = [...this.consumers, consumer];
    this.#buckets.deal(this.consumers);
    const { latency } = this.#options;
    const close = (): void => this.disconnect(consumer, false);
    out.onClose = () => !consumer.isOver && world().schedule(latency(), undefined, close);
    out.onAcknowledged = (ids) =>
      world().schedule(latency(), undefined, () => this.#acknowledge(consumer, ids));
    this.#pushLater();
  }

  disconnect(consumer: Consumer, isBroken: boolean): void {
    if (consumer.isOver) return;
    consumer.isOver = true;
    this.consumers = this.consumers.filter((other) => other !== consumer);
    for (const [id, { event, retryCount, before, consumer: holder }] of this.#outstanding) {
      if (holder !== consumer) continue;
      this.#outstanding.delete(id);
      this.#retries.push({ event, before, retryCount: retryCount + 1 });
    }
    this.#retries.sort((one, other) => one.event.number - other.event.number);
    if (isBroken) consumer.out.breakOff(unavailable());
    this.#buckets.deal(this.consumers);
    this.#pushLater();
  }

  break(isBroken: (connection: Connection) => boolean): void {
    for (const consumer of this.consumers) if (isBroken(consumer.connection)) this.disconnect(consumer, true);
  }

  #acknowledge(consumer: Consumer, ids: readonly string[]): void {
    for (const id of ids) {
      const outstanding = this.#outstanding.get(id);
      if (consumer.isOver || outstanding?.consumer !== consumer) continue;
      const { process } = consumer.connection;
      world().note('group', `ack ${nameOf(outstanding.event)} by ${process.name}`);
      world().called(process, 'ack', 'done');
      this.#outstanding.delete(id);
      this.acknowledged.add(id);
      consumer.held -= 1;
    }
    this.#pushLater();
  }

  /** The server skips the first event that it reads from a checkpoint, whether or not that is the one at it. */
  #readFromCheckpoint(): void {
    const { checkpoint } = this;
    let isFirst = checkpoint !== undefined;
    for (const event of this.#log.events) {
      if (event.number < this.#options.start) continue;
      if (this.#isLeftOut(event)) this.#lastKnown = Math.max(this.#lastKnown, event.number);
      else if (checkpoint !== undefined && event.number < checkpoint) this.#noteIfForgotten(event);
      else if (isFirst) {
        isFirst = false;
        this.#noteIfForgotten(event);
      } else this.#buffer.push({ event, retryCount: 0 });
    }
  }

  #noteIfForgotten(event: StoredEvent): void {
    if (this.acknowledged.has(event.id)) return;
    const text = `the checkpoint ${this.checkpoint} made group ${this.#options.name} forget ${nameOf(event)}`;
    this.forgotten.push(text);
    world().note('group', text);
  }

  #markLater(): void {
    world().schedule(CHECKPOINT_EVERY_MS, undefined, () => {
      this.#mark();
      this.#markLater();
    });
  }

  /** Moves the checkpoint before the first event that is in work or to be retried, else to the last known one. */
  #mark(): void {
    if (!this.#isLoaded || !this.#leadership.hasLeader || this.#leadership.unreplicated) return;
    let [lowest, mark] = [Infinity, this.#lastKnown];
    for (const { event, before } of [...this.#outstanding.values(), ...this.#retries]) {
      if (event.number >= lowest) continue;
      lowest = event.number;
      mark = before ?? mark;
    }
    if (mark <= (this.checkpoint ?? 0)) return;
    this.checkpoint = mark;
    world().note('group', `checkpoint ${mark}`);
  }

  #pushLater(): void {
    if (this.#isPushing) return;
    this.#isPushing = true;
    world().schedule(world().networkRandom.between(0.02, 0.6), undefined, () => {
      this.#isPushing = false;
      if (this.consumers.length === 0) return;
      this.#retries = this.#push(this.#retries);
      this.#buffer = this.#push(this.#buffer);
    });
  }

  /** Hands out what the consumers have room for; returns the rest. */
  #push(list: readonly Waiting[]): Waiting[] {
    return list.filter((waiting) => {
      const { event, retryCount, before = this.#lastKnown } = waiting;
      const consumer = this.#buckets.ownerOf(event.streamId);
      if (!consumer || consumer.availableSlots <= 0) return true;
      this.#outstanding.set(event.id, { event, retryCount, before, consumer });
      this.#lastKnown = Math.max(this.#lastKnown, event.number);
      consumer.hand(event, retryCount, this.#options.latency());
      return false;
    });
  }

  #isLeftOut({ streamId }: StoredEvent): boolean {
    return !isIn(this.#options.filter, streamId);
  }
}
