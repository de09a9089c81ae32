import { type EventLog, isInLog, type Position, type RecordedEvent } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import { AbortGate } from '../tools/concurrency/abort-gate.ts';
import { applyEvents, isBefore, oldestPosition, type ProjectedTable, prefixesOf } from './apply-events.ts';
import { lastSeenOf, resetForeignViews } from './log-identity.ts';
import { PositionWaiter } from './position-waiter.ts';
import type { AnyProjection, Projection } from './projection.ts';
import { FlushScheduler } from './store/flush-scheduler.ts';
import type { Reached, ReachedByQueries, View } from './view.ts';
import type { EventRef, ViewStore } from './view-store.ts';

export type ProjectorProgress = (done: {
  readonly events: number;
  readonly position: Position | undefined;
}) => void;

const PAGE = 1000;
/** Milliseconds until `head` is asked again after an error of the log. */
const RETRY_DELAY_MS = 500;

/**
 * Follows the log and maintains all views of this node. Changes of a view and its position are written in one
 * transaction, a little later. So each event is applied exactly once, even across a crash.
 */
export class Projector {
  readonly #log: EventLog;
  readonly #store: ViewStore;
  readonly #saver: FlushScheduler;
  readonly #projections = new Map<string, ProjectedTable>();
  readonly #reached = new PositionWaiter();
  readonly #listeners = new Set<Listener>();
  readonly #stop = new AbortController();
  readonly #cutOff = new AbortGate();
  #logError: string | undefined;
  /**
   * Set while the disk accepts no changes. `upTo` is the head of the log when the disk accepted changes
   * again.
   */
  #halted: { readonly upTo?: Position } | undefined;
  #switches = 0;
  #running: Promise<void> | undefined;
  #failed: (error: unknown) => void = () => undefined;

  constructor(log: EventLog, store: ViewStore) {
    this.#log = log;
    this.#store = store;
    const tables = () => [...this.#projections.values()].map(({ table }) => table);
    this.#saver = new FlushScheduler(store, tables, this.#stop.signal, (error) => this.#failed(error));
  }

  /** Adds a projection. Must be called before {@link start}. */
  add<Type, Event extends { type: string }>(projection: Projection<Type, Event>): View<Type> {
    const table = this.#store.open(projection);
    // The projector only hands its own views and events back to a projection.
    const anyProjection = projection as unknown as AnyProjection;
    this.#projections.set(projection.name, { projection: anyProjection, table, applied: { events: 0 } });
    return table as unknown as View<Type>;
  }

  /**
   * Resolves when the views have caught up with the head of the log at the time of the call. Calls `failed`
   * if following the log ends with an error later, for example an event that this release cannot read.
   */
  async start(
    failed: (error: unknown) => void,
    progress: ProjectorProgress = () => undefined,
  ): Promise<void> {
    this.#failed = failed;
    const tables = [...this.#projections.values()].map(({ table }) => table);
    await resetForeignViews(this.#log, tables);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#running = this.#follow(resolve, progress).catch((error: unknown) => {
      reject(error);
      failed(error);
    });
    await promise;
  }

  /** The position up to which all views have applied the log. */
  get position(): Position | undefined {
    return this.#reached.position;
  }

  /**
   * Returns the position that queries of a view have reached: lower than {@link position} while the disk is
   * full.
   */
  queriesOf(name: string): ReachedByQueries {
    const { table } = this.#named(name);
    const reached = () => {
      const { queryablePosition } = table;
      return queryablePosition === table.position && isBefore(queryablePosition, this.position)
        ? this.position
        : queryablePosition;
    };
    return {
      get position() {
        return reached();
      },
      isCurrent: () => !isBefore(reached(), this.position),
      passed: async (position, timeoutMs) =>
        (await this.passed(position, timeoutMs)) && !isBefore(reached(), position),
    };
  }

  /**
   * Whether the views are behind because the disk accepted no writes for long. Stays true until they have
   * applied what was appended meanwhile.
   */
  get isHalted(): boolean {
    return this.#halted !== undefined;
  }

  /** The reason why the views do not advance at the moment; `undefined` when there is no error. */
  get lastError(): string | undefined {
    const behind = this.isHalted ? 'they catch up with the event log.' : undefined;
    return this.#store.damage ?? this.#saver.lastError ?? behind ?? this.#logError;
  }

  /**
   * Returns the event that a view applied last, which identifies a point of the log also after a migration or
   * a restore.
   */
  lastSeenBy(name: string): EventRef | undefined {
    return lastSeenOf(this.#named(name).table);
  }

  /** Resolves to whether the log has exactly this event at its position. */
  knows(seen: EventRef): Promise<boolean> {
    return isInLog(this.#log, seen);
  }

  /** Resolves to `true` once the views have reached `position`, to `false` after `timeoutMs`. */
  passed(position: Position, timeoutMs: number): Promise<boolean> {
    return this.#reached.passed(position, timeoutMs);
  }

  /**
   * Calls the listener with events, in order, as soon as the views have applied them. Returns a function that
   * removes the listener.
   */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @throws {ViewUnavailable} there is no such generation, or it does not belong to this service. */
  assertBuilt(name: string, generation: number): void {
    this.#store.assertBuilt(this.#named(name).projection, generation);
  }

  /**
   * Switches to a generation that was built while another one was in use: catches up to the position of the
   * view in use, then replaces it in one step. Resolves to the milliseconds of that step; requests are served
   * during the rest.
   * @throws {ViewUnavailable} as {@link assertBuilt} does; the view in use stays in use.
   */
  async adopt(name: string, generation: number): Promise<number> {
    const { applied: _counted, ...shown } = this.#named(name); // the events of the catch-up were counted before
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

  /** Number of generations that were adopted. */
  get switches(): number {
    return this.#switches;
  }

  /** The progress of each view. Its cost does not depend on the number of events. */
  get reached(): readonly Reached[] {
    return [...this.#projections.values()].map(({ projection: { name, source }, table, applied }) => {
      // A table does not see events that concern no view; the projector does.
      const position = isBefore(table.position, this.position) ? this.position : table.position;
      return { name, streamPrefix: source.prefix, position, events: applied?.events ?? 0 };
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#cutOff.abort(this.#stop.signal.reason);
    await this.#running;
    this.#saver.end();
  }

  #named(name: string): ProjectedTable {
    const shown = this.#projections.get(name);
    if (!shown) throw new TypeError(`There is no view ${name} here.`);
    return shown;
  }

  async #follow(caughtUp: () => void, progress: ProjectorProgress): Promise<void> {
    const shown = [...this.#projections.values()];
    const [after, streamPrefixes] = [oldestPosition(shown), prefixesOf(shown)];
    let [events, live] = [0, false];
    const onLastError = (reason: string | undefined): void => {
      this.#logError = reason;
    };
    const options = { after, streamPrefixes, signal: this.#stop.signal, onLastError };
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
    await this.#saver.waitForSpace();
    const upTo = await this.#headOnceKnown();
    if (upTo === undefined) return;
    this.#halted = { upTo };
    this.#moveTo(this.position);
  }

  /**
   * Resolves to the head of the log, retrying on errors. No events arrive from the log during such an error
   * either. Resolves to `undefined` when the projector stops.
   */
  async #headOnceKnown(): Promise<Position | undefined> {
    while (!this.#stop.signal.aborted) {
      const head = await this.#cutOff.race(this.#log.head()).catch(() => undefined);
      if (head !== undefined) return head;
      await clock.sleep(RETRY_DELAY_MS, this.#stop.signal).catch(() => undefined);
    }
    return undefined;
  }

  /** Reads every event, including those that concern no view: their positions count, too. */
  async #catchUp(shown: ProjectedTable): Promise<void> {
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

type Listener = (events: readonly RecordedEvent[]) => void;
