import {
  type EventLog,
  isInLog,
  type Position,
  type RecordedEvent,
  type SeenEvent,
} from '../event-log/event-log.ts';
import { estimateTotal } from '../event-log/progress-estimate.ts';
import { clock } from '../tools/clock.ts';
import { AbortGate } from '../tools/concurrency/abort-gate.ts';
import { applyEvents, isBefore, prefixesOf } from './apply-events.ts';
import { catchUp } from './catch-up.ts';
import { PositionWaiter } from './position-waiter.ts';
import type { AnyProjection, Projection } from './projection.ts';
import { resetForeign } from './reset-foreign.ts';
import { FlushScheduler } from './store/flush-scheduler.ts';
import type { SqliteViewStore } from './store/sqlite-view-store.ts';
import type { Reached, ReachedByQueries, View } from './view.ts';

/** @param total an estimate of the events that there are to apply, those already applied included */
export type ProjectorProgress = (events: number, total: number | undefined) => void;

/** `files`: those that this node had; `log`: all events were read. */
type BegunFrom = 'files' | 'snapshot' | 'log';

type UseSnapshot = (projections: readonly AnyProjection[], signal: AbortSignal) => Promise<boolean>;

/** The reason why views are not ready that have not caught up. */
export const BEHIND = 'they catch up with the event log.';

/** Milliseconds until `head` is asked again after an error of the log. */
const RETRY_DELAY_MS = 500;

/**
 * Follows the log and maintains all views of this node. Changes of a view and its position are written in one
 * transaction, a little later. So each event is applied exactly once, even across a crash.
 */
export class Projector {
  readonly #log: EventLog;
  readonly #store: SqliteViewStore;
  readonly #saver: FlushScheduler;
  readonly #projections = new Set<AnyProjection>();
  /** Prefixes of streams of which no view is made, but which listeners follow. */
  readonly #listenedTo: string[] = [];
  /** Numbers of events that were applied since the start, by the prefix of their streams. */
  readonly #applied = new Map<string, number>();
  readonly #reached = new PositionWaiter();
  readonly #listeners = new Set<Listener>();
  readonly #stop = new AbortController();
  readonly #cutOff = new AbortGate();
  #logError: string | undefined;
  #hasCaughtUp = false;
  /** Set while the disk accepts no changes. `upTo` is the head of the log when the disk accepted changes again. */
  #halted: { readonly upTo?: Position } | undefined;
  readonly #useSnapshot: UseSnapshot;
  #begunFrom: BegunFrom | undefined;
  #switches = 0;
  #running: Promise<unknown> | undefined;
  #failed: (error: unknown) => void = () => undefined;

  /** @param useSnapshot replaces empty views by a snapshot, if one fits, and resolves to whether it has */
  constructor(log: EventLog, store: SqliteViewStore, useSnapshot: UseSnapshot = async () => false) {
    this.#log = log;
    this.#store = store;
    this.#useSnapshot = useSnapshot;
    this.#saver = new FlushScheduler(store, this.#stop.signal, (error) => this.#failed(error));
  }

  /** Adds a projection. Must be called before {@link start}. */
  add<Type, Event extends { type: string }>(projection: Projection<Type, Event>): View<Type> {
    // The projector only hands its own views and events back to a projection.
    this.#projections.add(projection as unknown as AnyProjection);
    return this.#store.add(projection) as View<Type>;
  }

  /** Delivers the events of these streams to listeners as well. Must be called before {@link start}. */
  follow(streamPrefix: string): void {
    this.#listenedTo.push(streamPrefix);
  }

  /**
   * Resolves when the views have caught up with the head of the log at the time of the call. Calls `failed` if
   * following the log ends with an error later, for example an event that this release cannot read.
   */
  async start(
    failed: (error: unknown) => void,
    progress: ProjectorProgress = () => undefined,
  ): Promise<void> {
    this.#failed = failed;
    const begun = this.#begin();
    this.#running = begun.catch(() => undefined); // reported by the next line
    const head = await begun;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#running = this.#follow(resolve, progress, head).catch((error: unknown) => {
      reject(error);
      failed(error);
    });
    await promise;
  }

  /** The position up to which all views have applied the log. */
  get position(): Position | undefined {
    return this.#reached.position;
  }

  /** Returns the progress of the queries of a view: lower than {@link position} while the disk is full. */
  queriesOf({ name }: Pick<AnyProjection, 'name'>): ReachedByQueries {
    const reached = () => {
      const { file } = this.#store;
      const position = file.queryablePosition(name);
      return position === file.lastSeen?.position ? this.position : position;
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
   * Whether the views get on with the log. They do not until they have caught up since the start, nor while the disk
   * accepts no writes, nor until they have applied what was appended meanwhile.
   */
  get isCurrent(): boolean {
    return this.#hasCaughtUp && this.#halted === undefined;
  }

  /** The reason why the views do not advance at the moment; `undefined` when there is no error. */
  get lastError(): string | undefined {
    return this.#store.file.damage ?? this.#saver.lastError ?? (this.#halted && BEHIND) ?? this.#logError;
  }

  /** Resolves to whether the log has exactly this event at its position. */
  knows(seen: SeenEvent): Promise<boolean> {
    return isInLog(this.#log, seen);
  }

  /** Resolves to `true` once the views have reached `position`, to `false` after `timeoutMs`. */
  passed(position: Position, timeoutMs: number): Promise<boolean> {
    return this.#reached.passed(position, timeoutMs);
  }

  /**
   * Calls the listener with events, in order, as soon as the views have applied them. Returns a function that removes
   * the listener.
   */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Switches to a generation that was built while another one was in use: catches up to the position of the views in
   * use, then replaces them in one step. Resolves to the milliseconds of that step; requests are served during the
   * rest.
   * @throws {ViewUnavailable} the generation is missing, or of another release or log: nothing is switched.
   */
  async adopt(generation: number): Promise<number> {
    using unlessUsed = new DisposableStack();
    const views = unlessUsed.use(this.#store.openGeneration(generation));
    while (isBefore(views.lastSeen?.position, this.#store.file.lastSeen?.position))
      await catchUp(views, this.#log, [...this.#projections], this.#stop.signal);
    views.addLookups();
    const begun = clock.monotonic();
    this.#store.use(generation, views);
    unlessUsed.move();
    this.#switches += 1;
    return clock.monotonic() - begun;
  }

  /** Says what the views began with at the start; `undefined` until it is known. */
  get begunFrom(): BegunFrom | undefined {
    return this.#begunFrom;
  }

  /** Number of generations that were adopted. */
  get switches(): number {
    return this.#switches;
  }

  /** The progress of each view. Its cost does not depend on the number of events. */
  get reached(): readonly Reached[] {
    const stored = this.#store.file.lastSeen?.position;
    // The store does not see events that concern no view; the projector does.
    const position = isBefore(stored, this.position) ? this.position : stored;
    return [...this.#projections].map(({ name, version, source: { prefix } }) => {
      return { name, version, streamPrefix: prefix, position, events: this.#applied.get(prefix) ?? 0 };
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#cutOff.abort(this.#stop.signal.reason);
    await this.#running;
    await this.#saver.end();
  }

  /** Resolves to the head of the log. */
  async #begin(): Promise<Position | undefined> {
    const head = await resetForeign(this.#log, this.#store.file);
    const isNew = this.#store.file.lastSeen === undefined;
    const usesSnapshot = isNew && (await this.#useSnapshot([...this.#projections], this.#stop.signal));
    this.#begunFrom = usesSnapshot ? 'snapshot' : isNew ? 'log' : 'files';
    this.#store.file.dropOthers();
    return head;
  }

  async #follow(
    caughtUp: () => void,
    progress: ProjectorProgress,
    head: Position | undefined,
  ): Promise<void> {
    let [events, live] = [0, false];
    const onLastError = (reason: string | undefined) => void (this.#logError = reason);
    const { lastSeen } = this.#store.file;
    const after = lastSeen?.position;
    const streamPrefixes = [...prefixesOf([...this.#projections]), ...this.#listenedTo];
    const options = { after, lastSeen, streamPrefixes, signal: this.#stop.signal, onLastError };
    for await (const message of this.#log.subscribe(options)) {
      if (message.kind === 'events') {
        await this.#apply(message.events);
        events += message.events.length;
        if (!live) progress(events, estimateTotal(events, this.position, head, after));
      } else {
        this.#moveTo(message.position);
        if (!live && !(await this.#saver.addLookups())) return;
        live = true;
        this.#hasCaughtUp = true;
        caughtUp();
      }
    }
  }

  async #apply(events: readonly RecordedEvent[]): Promise<void> {
    const projections = [...this.#projections];
    applyEvents(this.#store.file, projections, events);
    for (const prefix of prefixesOf(projections)) {
      const count = events.filter(({ stream }) => stream.startsWith(prefix)).length;
      this.#applied.set(prefix, (this.#applied.get(prefix) ?? 0) + count);
    }
    this.#moveTo(events.at(-1)?.position);
    for (const listener of this.#listeners) listener(events);
    await this.#saver.changed();
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
   * Resolves to the head of the log, retrying on errors. No events arrive from the log during such an error either.
   * Resolves to `undefined` when the projector stops.
   */
  async #headOnceKnown(): Promise<Position | undefined> {
    while (!this.#stop.signal.aborted) {
      const head = await this.#cutOff.race(this.#log.head()).catch(() => undefined);
      if (head !== undefined) return head;
      await clock.sleep(RETRY_DELAY_MS, this.#stop.signal).catch(() => undefined);
    }
    return undefined;
  }

  #moveTo(position: Position | undefined): void {
    this.#reached.moveTo(position);
    const { upTo } = this.#halted ?? {};
    if (upTo !== undefined && !isBefore(this.position, upTo)) this.#halted = undefined;
  }
}

type Listener = (events: readonly RecordedEvent[]) => void;
