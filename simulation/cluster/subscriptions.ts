import { world } from '../world/world.ts';
import { unavailable } from './client-fault.ts';
import type { ClusterNetwork } from './cluster-network.ts';
import type { Connection } from './leadership.ts';
import type { LibraryStream } from './library-stream.ts';
import type { ServerLog } from './server-log.ts';
import type { LogPosition, StoredEvent } from './stored-event.ts';

/** Which streams a subscription or a group is about. */
export type StreamFilter = { readonly prefixes?: readonly string[]; readonly regex?: string };

type Subscription = {
  readonly connection: Connection;
  readonly out: LibraryStream;
  readonly filter: StreamFilter | undefined;
  readonly epoch: number | undefined;
  /** The number of the last event that was looked at. */
  at: number;
  /** On the side of an old leader: the last event there is. */
  upTo: number;
  lastArrival: number;
  isLive: boolean;
};

/** Catch-up subscriptions to all streams. Each keeps the order of its messages. */
export class Subscriptions {
  readonly #log: ServerLog;
  readonly #network: ClusterNetwork;
  readonly #open = new Set<Subscription>();

  constructor(log: ServerLog, network: ClusterNetwork) {
    this.#log = log;
    this.#network = network;
  }

  begin(
    connection: Connection,
    from: 'start' | LogPosition,
    filter: StreamFilter | undefined,
    out: LibraryStream,
  ): void {
    const at = from === 'start' ? 0 : Number(from.commit);
    const label = { text: 'subscribe $all', call: 'subscribe' } as const;
    this.#network
      .request<void>(connection, label, ({ old }, answer) => {
        if (out.isOver) return;
        const upTo = old?.upTo ?? Infinity;
        const { epoch } = connection;
        const subscription = { connection, out, filter, epoch, at, upTo, lastArrival: 0, isLive: false };
        this.#open.add(subscription);
        out.onClose = () => this.#open.delete(subscription);
        answer();
        this.#feed(subscription);
      })
      .catch((error: Error) => {
        out.onClose(); // the server may have begun it
        out.fail(error);
      });
  }

  committed(): void {
    for (const subscription of this.#open) this.#feed(subscription);
  }

  /** Those on the side of an old leader see nothing that comes later. */
  isolate(upTo: number): void {
    for (const subscription of this.#open) subscription.upTo = upTo;
  }

  break(isBroken: (connection: Connection, epoch: number | undefined) => boolean): void {
    for (const subscription of this.#open) {
      if (!isBroken(subscription.connection, subscription.epoch)) continue;
      this.#open.delete(subscription);
      subscription.out.breakOff(unavailable());
    }
  }

  #feed(subscription: Subscription): void {
    const { connection, out, filter } = subscription;
    const isFirst = !subscription.isLive;
    subscription.isLive = true;
    const events = this.#next(subscription).filter(({ streamId }) => isIn(filter, streamId));
    if (events.length === 0 && !isFirst) return;
    const { now } = world();
    const time = Math.max(now + this.#network.latency(), subscription.lastArrival + 0.001);
    subscription.lastArrival = time;
    world().schedule(time - now, connection.process, () => {
      if (out.isOver) return;
      out.give(events.map((event) => ({ event })));
      if (isFirst) out.emit('caughtUp');
    });
  }

  #next(subscription: Subscription): StoredEvent[] {
    const next: StoredEvent[] = [];
    for (let index = this.#log.events.length - 1; index >= 0; index--) {
      const event = this.#log.events[index] as StoredEvent;
      if (event.number <= subscription.at) break;
      if (event.number <= subscription.upTo) next.unshift(event);
    }
    subscription.at = next.at(-1)?.number ?? subscription.at;
    return next;
  }
}

export function isIn(filter: StreamFilter | undefined, stream: string): boolean {
  if (!filter) return true;
  if (filter.prefixes) return filter.prefixes.some((prefix) => stream.startsWith(prefix));
  return new RegExp(filter.regex ?? '').test(stream);
}
