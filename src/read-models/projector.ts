import { CutOff } from '../cut-off.ts';
import { type EventLog, isInLog, type Position, type RecordedEvent } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import { applyEvents, isBefore, oldestPosition, prefixesOf, type Shown } from './apply-events.ts';
import { clearOfOtherLogs, markOf } from './of-this-log.ts';
import type { AnyProjection, Projection } from './projection.ts';
import { ReachedPosition } from './reached-position.ts';
import { ViewSaver } from './view-saver.ts';
import type { Seen, ViewQuery, ViewStore } from './view-store.ts';

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
/** Milliseconds until a log that could not be asked is asked again. */
const AGAIN = 500;

/**
 * Follows the log and keeps all views of this node. Changes of a view and its position are written together, a
 * little later, so each event is applied exactly once whatever happens in between.
 */
export class Projector {
  readonly #log: EventLog;
  readonly #store: ViewStore;
  readonly #saver: ViewSaver;
  readonly #projections = new Map<string, Shown>();
  readonly #reached = new ReachedPosition();
  readonly #listeners = new Set<Listener>();
  readonly #stop = new AbortController();
  readonly #cutOff = new CutOff();
  #trouble: string | undefined;
  /** `upTo`: how far the log was when the disk took changes again. */
  #halted: { readonly upTo?: Position } | undefined;
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
    const anyProjection = projection as unknown as AnyProjection;
    this.#projections.set(projection.name, { projection: anyProjection, table, came: { events: 0 } });
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
    const tables = [...this.#projections.values()].map(({ table }) => table);
    await clearOfOtherLogs(this.#log, tables);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#running = this.#follow(resolve, progress).catch((error: unknown) => {
      reject(error);
      failed(error);
    });
    await promise;
  }

  /** Up to where the log is in the views. */
  get position(): Position | undefined {
    return this.#reached.position;
  }

  /** How far the log is in what queries of a view find: not as far as {@link position} while the disk is full. */
  queriesOf(name: string): Pick<Projector, 'position' | 'passed'> {
    const { table } = this.#named(name);
    const reached = () => {
      const { queried } = table;
      return queried === table.position && isBefore(queried, this.position) ? this.position : queried;
    };
    return {
      get position() {
        return reached();
      },
      passed: async (position, patience) =>
        (await this.passed(position, patience)) && !isBefore(reached(), position),
    };
  }

  /** Whether the views are behind the log because the disk took nothing for long: until they show what came meanwhile. */
  get isHalted(): boolean {
    return this.#halted !== undefined;
  }

  /** Why the views do not get on at the moment; `undefined` when all is well. */
  get trouble(): string | undefined {
    const behind = this.isHalted ? 'they catch up with the event log.' : undefined;
    return this.#store.damage ?? this.#saver.trouble ?? behind ?? this.#trouble;
  }

  /** The event that a view has seen last: a place that is known again, also after a move or a restore. */
  lastSeenBy(name: string): Seen | undefined {
    return markOf(this.#named(name).table);
  }

  /** Whether the log has this very event there. */
  knows(seen: Seen): Promise<boolean> {
    return isInLog(this.#log, seen);
  }

  /** Resolves to `true` once the views have passed `position`, to `false` when that takes more than `patience` ms. */
  passed(position: Position, patience: number): Promise<boolean> {
    return this.#reached.passed(position, patience);
  }

  /** From now on tells of events, in order, as soon as the views have them; what is returned ends that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @throws {ViewUnavailable} there is no such generation, or it is none of this service. */
  assertBuilt(name: string, generation: number): void {
    this.#store.assertBuilt(this.#named(name).projection, generation);
  }

  /**
   * Takes a generation that was built beside the view in use: brings it up to where that one is, then has it
   * take its place in one step. Resolves to the milliseconds of that step; the rest disturbs nobody.
   * @throws {ViewUnavailable} as {@link assertBuilt} does; the view in use stays so.
   */
  async adopt(name: string, generation: number): Promise<number> {
    const { came: _counted, ...shown } = this.#named(name); // what it catches up has come before
    using unlessUsed = new DisposableStack();
    const table = unlessUsed.use(this.#store.openGeneration(shown.projection, generation));
    while (isBefore(table.position, shown.table.position)) await this.#catchUp({ ...shown, table });
    this.#store.addLookups(table);
    const begun = clock.monotonic();
    this.#store.replace(shown.table, table);
    unlessUsed.move();
    this.#switches += 1;
    return clock.monotonic() - begun;
  }

  /** How many generations have been adopted. */
  get switches(): number {
    return this.#switches;
  }

  /** Quick, however many events there are. */
  get reached(): readonly Reached[] {
    return [...this.#projections.values()].map(({ projection: { name, source }, table, came }) => {
      // A table does not hear of events that concern no view; the projector does.
      const position = isBefore(table.position, this.position) ? this.position : table.position;
      return { name, streamPrefix: source.prefix, position, events: came?.events ?? 0 };
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#cutOff.cut(this.#stop.signal.reason);
    await this.#running;
    this.#saver.end();
  }

  #named(name: string): Shown {
    const shown = this.#projections.get(name);
    if (!shown) throw new TypeError(`There is no view ${name} here.`);
    return shown;
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
        if (!live) progress({ events, position: this.position });
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
    this.#saver.changed();
    if (this.#saver.isFull) await this.#halt();
  }

  async #halt(): Promise<void> {
    this.#halted = {};
    await this.#saver.room();
    const upTo = await this.#headOnceKnown();
    if (upTo === undefined) return;
    this.#halted = { upTo };
    this.#moveTo(this.position);
  }

  /** While it cannot be asked nothing comes from the log either. `undefined` when following it ends. */
  async #headOnceKnown(): Promise<Position | undefined> {
    while (!this.#stop.signal.aborted) {
      const head = await this.#cutOff.unless(this.#log.head()).catch(() => undefined);
      if (head !== undefined) return head;
      await clock.sleep(AGAIN, this.#stop.signal).catch(() => undefined);
    }
    return undefined;
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
    this.#reached.moveTo(position);
    const { upTo } = this.#halted ?? {};
    if (upTo !== undefined && !isBefore(this.position, upTo)) this.#halted = undefined;
  }
}

/** How far a view is. */
export type Reached = {
  readonly name: string;
  /** Of the streams whose events it shows. */
  readonly streamPrefix: string;
  /** Up to where it has seen the log. */
  readonly position: Position | undefined;
  /** How many it was shown since the start. */
  readonly events: number;
};

type Listener = (events: readonly RecordedEvent[]) => void;
