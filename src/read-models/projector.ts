import type { EventLog, Position, RecordedEvent } from '../event-log/event-log.ts';
import { apply } from './fold.ts';
import type { Projection } from './projection.ts';
import type { ViewStore, ViewTable } from './view-store.ts';

/** A view as those read it who serve it. */
export interface View<Type> {
  get(key: string): Type | undefined;
  values(): IterableIterator<Type>;
}

export type ProjectorProgress = (done: {
  readonly events: number;
  readonly position: Position | undefined;
}) => void;

/**
 * Follows the log and keeps all views of this node. Changes of views and their positions are committed
 * together, so each event is applied exactly once whatever happens in between.
 */
export class Projector {
  readonly #log: EventLog;
  readonly #store: ViewStore;
  readonly #projections = new Map<string, Shown>();
  readonly #waiters = new Set<Waiter>();
  readonly #stop = new AbortController();
  #position: Position | undefined;
  #trouble: string | undefined;
  #running: Promise<void> | undefined;

  constructor(log: EventLog, store: ViewStore) {
    this.#log = log;
    this.#store = store;
  }

  /** Adds a projection; before {@link start}. */
  add<Type, Event extends { type: string }>(projection: Projection<Type, Event>): View<Type> {
    const table = this.#store.open(projection);
    // The projector only hands its own views and events back to a projection.
    this.#projections.set(projection.name, { projection: projection as unknown as AnyProjection, table });
    return table as unknown as View<Type>;
  }

  /**
   * Resolves when the views have caught up with the log as it is now. `failed` is called if following the log
   * ends with an error later on: an event this release cannot read, or a full disk.
   */
  async start(
    failed: (error: unknown) => void,
    progress: ProjectorProgress = () => undefined,
  ): Promise<void> {
    await this.#resetAhead();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#running = this.#follow(resolve, progress).catch((error: unknown) => {
      reject(error);
      failed(error);
    });
    await promise;
  }

  /** Up to where the log is in the views. */
  get position(): Position | undefined {
    return this.#position;
  }

  /** Why no events come at the moment; `undefined` when all is well. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Resolves to `true` once the views have passed `position`, to `false` when that takes more than `patience` ms. */
  async passed(position: Position, patience: number): Promise<boolean> {
    if (this.#position !== undefined && this.#position >= position) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { position, resolve };
    this.#waiters.add(waiter);
    const timer = setTimeout(() => resolve(false), patience);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #follow(caughtUp: () => void, progress: ProjectorProgress): Promise<void> {
    const after = this.#oldestPosition();
    const streamPrefixes = [
      ...new Set([...this.#projections.values()].map(({ projection }) => projection.source.prefix)),
    ];
    let [events, live] = [0, false];
    const onTrouble = (reason: string | undefined): void => {
      this.#trouble = reason;
    };
    const options = { after, streamPrefixes, signal: this.#stop.signal, onTrouble };
    for await (const message of this.#log.subscribe(options)) {
      if (message.kind === 'events') {
        this.#apply(message.events);
        events += message.events.length;
        if (!live) progress({ events, position: this.#position });
      } else {
        this.#moveTo(message.position);
        live = true;
        caughtUp();
      }
    }
  }

  #apply(events: readonly RecordedEvent[]): void {
    const last = events.at(-1)?.position;
    const changes = [...this.#projections.values()].map(({ projection, table }) => {
      const views = new Map<string, unknown>();
      for (const event of events) applyOnce(projection, table, views, event);
      return { table, views, position: last };
    });
    this.#store.commit(changes.filter(({ table, position }) => isBefore(table.position, position)));
    this.#moveTo(last);
  }

  #moveTo(position: Position | undefined): void {
    if (isBefore(this.#position, position)) this.#position = position;
    for (const waiter of this.#waiters) {
      if (!isBefore(this.#position, waiter.position)) waiter.resolve(true);
    }
  }

  #oldestPosition(): Position | undefined {
    const positions = [...this.#projections.values()].map(({ table }) => table.position);
    return positions.reduce((oldest, position) => (isBefore(oldest, position) ? oldest : position));
  }

  /** Views that are ahead of the log belong to another log: they begin anew. */
  async #resetAhead(): Promise<void> {
    const head = await this.#log.head();
    const ahead = [...this.#projections.values()].filter(({ table }) => isBefore(head, table.position));
    if (ahead.length === 0) return;
    this.#store.commit(ahead.map(({ table }) => ({ table, views: new Map(), position: undefined })));
  }
}

type AnyProjection = Projection<unknown, { type: string }>;
type Shown = { readonly projection: AnyProjection; readonly table: ViewTable };
type Waiter = { readonly position: Position; readonly resolve: (passed: boolean) => void };

/** Applies the event unless the table has it already. */
function applyOnce(
  projection: AnyProjection,
  table: ViewTable,
  views: Map<string, unknown>,
  event: RecordedEvent,
): void {
  if (!event.stream.startsWith(projection.source.prefix) || !isBefore(table.position, event.position)) return;
  if (!(event.type in projection.when)) return;
  const key = projection.key(projection.source.codec.read(event));
  views.set(key, apply(projection, views.has(key) ? views.get(key) : table.get(key), event));
}

function isBefore(position: Position | undefined, other: Position | undefined): boolean {
  return other !== undefined && (position === undefined || position < other);
}
