import type { EventLog, Position, RecordedEvent } from '../event-log/event-log.ts';
import { applyEvents, isBefore, oldestPosition, prefixesOf, type Shown } from './apply-events.ts';
import type { AnyProjection, Projection } from './projection.ts';
import { ViewSaver } from './view-saver.ts';
import type { ViewQuery, ViewStore } from './view-store.ts';

/** A view as those read it who serve it. */
export interface View<Type> {
  get(key: string): Type | undefined;
  values(): IterableIterator<Type>;
  find(query: ViewQuery): Type[];
  count(query: Omit<ViewQuery, 'limit'>): number;
  counts(equal?: Readonly<Record<string, string>>): ReadonlyMap<string, number>;
}

export type ProjectorProgress = (done: {
  readonly events: number;
  readonly position: Position | undefined;
}) => void;

const PAGE = 1000;

/**
 * Follows the log and keeps all views of this node. Changes of a view and its position are written together, a
 * little later, so each event is applied exactly once whatever happens in between.
 */
export class Projector {
  readonly #log: EventLog;
  readonly #store: ViewStore;
  readonly #saver: ViewSaver;
  readonly #projections = new Map<string, Shown>();
  readonly #waiters = new Set<Waiter>();
  readonly #listeners = new Set<Listener>();
  readonly #stop = new AbortController();
  #position: Position | undefined;
  #trouble: string | undefined;
  #switches = 0;
  #running: Promise<void> | undefined;
  #failed: (error: unknown) => void = () => undefined;

  constructor(log: EventLog, store: ViewStore) {
    this.#log = log;
    this.#store = store;
    const tables = () => [...this.#projections.values()].map(({ table }) => table);
    this.#saver = new ViewSaver(store, tables, this.#stop.signal, (error) => this.#failed(error));
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
   * ends with an error later on, as with an event that this release cannot read.
   */
  async start(
    failed: (error: unknown) => void,
    progress: ProjectorProgress = () => undefined,
  ): Promise<void> {
    this.#failed = failed;
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
    return this.#saver.trouble ?? this.#trouble;
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

  /** From now on tells of events, in order, as soon as the views have them; what is returned ends that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Takes a generation that was built beside the view in use: brings it up to where that one is, then has it
   * take its place in one step. Resolves to the milliseconds of that step; the rest disturbs nobody.
   */
  async adopt(name: string, generation: number): Promise<number> {
    const shown = this.#projections.get(name);
    if (!shown) throw new TypeError(`There is no view ${name} here.`);
    const table = this.#store.openGeneration(shown.projection, generation);
    while (isBefore(table.position, shown.table.position)) await this.#catchUp({ ...shown, table });
    const begun = performance.now();
    this.#store.replace(shown.table, table);
    this.#switches += 1;
    return performance.now() - begun;
  }

  /** How many generations have been adopted. */
  get switches(): number {
    return this.#switches;
  }

  /** Up to where each view has seen the log, and of which streams it shows events: quick, however many there are. */
  get reached(): readonly { name: string; streamPrefix: string; position: Position | undefined }[] {
    return [...this.#projections.values()].map(({ projection: { name, source }, table }) => {
      // A table does not hear of events that concern no view; the projector does.
      const position = isBefore(table.position, this.#position) ? this.#position : table.position;
      return { name, streamPrefix: source.prefix, position };
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#saver.end();
  }

  async #follow(caughtUp: () => void, progress: ProjectorProgress): Promise<void> {
    const shown = [...this.#projections.values()];
    const [after, streamPrefixes] = [oldestPosition(shown), prefixesOf(shown)];
    let [events, live] = [0, false];
    const onTrouble = (reason: string | undefined): void => {
      this.#trouble = reason;
    };
    const options = { after, streamPrefixes, signal: this.#stop.signal, onTrouble };
    for await (const message of this.#log.subscribe(options)) {
      if (message.kind === 'events') {
        await this.#apply(message.events);
        events += message.events.length;
        if (!live) progress({ events, position: this.#position });
      } else {
        this.#moveTo(message.position);
        if (!live) for (const { table } of shown) this.#store.addLookups(table);
        live = true;
        caughtUp();
      }
    }
  }

  async #apply(events: readonly RecordedEvent[]): Promise<void> {
    applyEvents([...this.#projections.values()], events);
    this.#moveTo(events.at(-1)?.position);
    for (const listener of this.#listeners) listener(events);
    await this.#saver.changed();
  }

  /** Reads every event, also those that concern no view: their positions count, too. */
  async #catchUp(shown: Shown): Promise<void> {
    let page: RecordedEvent[] = [];
    for await (const event of this.#log.readAll({ after: shown.table.position, signal: this.#stop.signal })) {
      page.push(event);
      if (page.length < PAGE) continue;
      applyEvents([shown], page);
      this.#store.save([shown.table]);
      page = [];
    }
    applyEvents([shown], page);
    this.#store.save([shown.table]);
  }

  #moveTo(position: Position | undefined): void {
    if (isBefore(this.#position, position)) this.#position = position;
    for (const waiter of this.#waiters) {
      if (!isBefore(this.#position, waiter.position)) waiter.resolve(true);
    }
  }

  /** Views that are ahead of the log belong to another log: they begin anew. */
  async #resetAhead(): Promise<void> {
    const head = await this.#log.head();
    for (const { table } of this.#projections.values()) {
      if (isBefore(head, table.position)) table.clear();
    }
  }
}

type Listener = (events: readonly RecordedEvent[]) => void;
type Waiter = { readonly position: Position; readonly resolve: (passed: boolean) => void };
