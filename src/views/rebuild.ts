import { type EventLog, isInLog, type Position, type RecordedEvent } from '../event-log/event-log.ts';
import { applyEvents, isBefore, oldestPosition, prefixesOf } from './apply-events.ts';
import { lastSeenOf, resetForeignViews } from './log-identity.ts';
import type { AnyProjection } from './projection.ts';
import { inspectView, isMissingPosition, laterGenerations, type ViewInUse } from './store/inspect-view.ts';
import { SqliteViewStore } from './store/sqlite-view-store.ts';
import { ViewFile } from './store/view-file.ts';
import { ViewFolder } from './store/view-folder.ts';
import { ViewWriter } from './store/view-writer.ts';
import { differencesBetween, type ViewDifference } from './view-difference.ts';

export type RebuildOptions = {
  readonly log: EventLog;
  /** Folder of the views. */
  readonly folder: string;
  /** Identity of the log that the positions belong to. */
  readonly origin: string;
  readonly projections: readonly AnyProjection[];
  /** Folder for the built files instead, for comparison only: they cannot be taken into use. */
  readonly checkIn?: string;
  readonly progress: (events: number, position: Position | undefined) => void;
  readonly signal?: AbortSignal;
};

/** A new generation of one view. */
type Built = {
  readonly projection: AnyProjection;
  readonly generation: number;
  readonly table: ViewFile;
  readonly inUse: ViewInUse;
};

/** Number of events that are applied together, and number of events after which views are written. */
const [PAGE, EVENTS_PER_SAVE] = [1000, 5000];

/**
 * Builds new generations of views from the log alone, while the present ones stay in use. Reuses what an
 * interrupted rebuild left. Only reads the files of the service, so it may run in a separate process.
 */
export class Rebuild implements Disposable {
  readonly #options: RebuildOptions;
  readonly #folder: ViewFolder;
  readonly #store: SqliteViewStore;
  readonly #built: readonly Built[];
  #events = 0;
  readonly #notCompared: string[] = [];

  constructor(options: RebuildOptions) {
    this.#options = options;
    this.#folder = new ViewFolder(options.folder);
    this.#store = SqliteViewStore.open(options.folder, options.origin);
    this.#built = options.projections.map((projection) => this.#begin(projection));
  }

  /** Numbers of the built generations, by the name of the view. */
  get generations(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#built.map(({ projection, generation }) => [projection.name, generation]));
  }

  get events(): number {
    return this.#events;
  }

  /** The views that {@link differences} skipped though they may be correct, as one sentence each. */
  get notCompared(): readonly string[] {
    return this.#notCompared;
  }

  /** Reads up to the positions of the views in use, or to the end of the log where no view is in use. */
  async build(): Promise<void> {
    const found = this.#built.map(({ table }) => table); // from an interrupted rebuild, maybe of another log
    await resetForeignViews(this.#options.log, found);
    await using writer = new ViewWriter();
    let written: Promise<unknown> = Promise.resolve();
    const save = async (tables: readonly ViewFile[]): Promise<void> => {
      await written; // while one page is written, the next one is read
      written = Promise.all(tables.map((table) => writer.write(table)));
      written.catch(() => undefined); // reported by the next await of it
    };
    await this.#advance(
      this.#built.map((built) => ({ ...built, upTo: positionOf(built.inUse) })),
      save,
    );
    await written;
    await this.#addLookups(writer);
  }

  /** Compares each generation with the view in use, both at the same position, and yields the differences. */
  async *differences(): AsyncGenerator<ViewDifference> {
    this.#notCompared.length = 0;
    for (const built of this.#built) {
      const { inUse, projection } = built;
      const view = projection.name;
      if (inUse.kind === 'damaged') yield { view, key: inUse.why, kind: 'damaged' };
      else if (inUse.kind === 'not comparable') this.#leaveOut(view, inUse.why);
      else yield* this.#differencesOf(built, inUse.table);
      if (this.#options.checkIn !== undefined) this.#leaveOutLater(view);
    }
  }

  async *#differencesOf(built: Built, inUse: ViewFile): AsyncGenerator<ViewDifference> {
    using _moment = inUse.snapshot();
    const upTo = inUse.storedPosition();
    if (upTo === undefined) {
      const fault = isMissingPosition(inUse);
      if (fault !== undefined) yield { view: inUse.name, key: fault, kind: 'damaged' };
      else this.#leaveOut(inUse.name, 'is empty: a service is only beginning to fill it');
      return;
    }
    const last = lastSeenOf({ position: upTo, lastSeen: inUse.storedLastSeen() });
    if (last !== undefined && !(await isInLog(this.#options.log, last))) {
      this.#leaveOut(
        inUse.name,
        'is of another log, as after a restore: the service builds it anew when it starts',
      );
      return;
    }
    if (isBefore(built.table.position, upTo))
      await this.#advance([{ ...built, upTo }], (tables) => this.#store.save(tables));
    yield* differencesBetween(inUse, built.table);
  }

  #leaveOut(view: string, why: string): void {
    this.#notCompared.push(`The view ${view} was not compared: it ${why}.`);
  }

  #leaveOutLater(view: string): void {
    for (const generation of laterGenerations(this.#folder, view)) {
      this.#notCompared.push(
        `Generation ${generation} of the view ${view} was not compared: current.json does not name it. A rebuild is under way or was cut off, unless current.json was changed or removed.`,
      );
    }
  }

  /** Takes the generations into use. No service may be running on the folder. */
  use(): void {
    this.#folder.use(this.generations);
  }

  /** Removes all generations except those now in use and their direct predecessors. */
  finish(): void {
    for (const { projection, generation } of this.#built)
      this.#folder.keepOnly(projection.name, [generation - 1, generation]);
  }

  [Symbol.dispose](): void {
    for (const { table, inUse } of this.#built) {
      table[Symbol.dispose]();
      if (inUse.kind === 'readable') inUse.table[Symbol.dispose]();
    }
  }

  #begin(projection: AnyProjection): Built {
    const current = this.#folder.current(projection.name);
    const generation = current + 1;
    const options = { ...projection, origin: this.#options.origin };
    const { checkIn } = this.#options;
    const folder = checkIn === undefined ? this.#folder : new ViewFolder(checkIn);
    const inUse = inspectView(this.#folder, options); // before the file of this rebuild exists
    const table = ViewFile.open(folder.fileOf(projection.name, generation), options);
    return { projection, generation, table, inUse };
  }

  /**
   * Adds the lookups of the largest table in this thread, those of the other tables in the writer's thread
   * meanwhile.
   */
  async #addLookups(writer: ViewWriter): Promise<void> {
    const tables = this.#built.map(({ table }) => table).toSorted((a, b) => lookupsOf(b) - lookupsOf(a));
    const [most, ...others] = tables;
    const there = Promise.all(others.map((table) => writer.addLookups(table)));
    there.catch(() => undefined); // reported by the await below, unless another error comes first
    most?.addLookups();
    await there;
    for (const table of others) table.lookupsAdded();
  }

  async #advance(shown: readonly Advanced[], save: Save): Promise<void> {
    const { log, progress, signal } = this.#options;
    const apply = async (page: readonly RecordedEvent[]): Promise<void> => {
      for (const [upTo, tables] of Map.groupBy(shown, (one) => one.upTo))
        applyEvents(tables, until(page, upTo));
      this.#events += page.length;
      last = page.at(-1)?.position ?? last;
      if (this.#events - saved < EVENTS_PER_SAVE) return;
      await saveAll();
    };
    const saveAll = async (): Promise<void> => {
      await save(shown.map(({ table }) => table));
      saved = this.#events;
      progress(saved, last);
    };
    let [saved, last] = [this.#events, undefined as Position | undefined];
    const furthest = furthestOf(shown.map(({ upTo }) => upTo));
    let page: RecordedEvent[] = [];
    const range = { after: oldestPosition(shown), streamPrefixes: prefixesOf(shown) };
    for await (const event of log.readAll({ ...range, ...(signal && { signal }) })) {
      if (furthest !== undefined && event.position > furthest) break;
      page.push(event);
      if (page.length < PAGE) continue;
      await apply(page);
      page = [];
    }
    await apply(page);
    await saveAll();
  }
}

/** Returns the approximate number of index and counter entries of a table. */
function lookupsOf({ size, shape: { indexes = [], countedBy = [] } }: ViewFile): number {
  return size * (indexes.length + countedBy.length);
}

/** A generation, and the position up to which it is to be built. */
type Advanced = Built & { readonly upTo: Position | undefined };
type Save = (tables: readonly ViewFile[]) => Promise<void> | void;

function positionOf(inUse: ViewInUse): Position | undefined {
  return inUse.kind === 'readable' ? inUse.table.storedPosition() : undefined;
}

function until(page: readonly RecordedEvent[], upTo: Position | undefined): readonly RecordedEvent[] {
  const last = page.at(-1);
  if (upTo === undefined || last === undefined || last.position <= upTo) return page;
  return page.filter(({ position }) => position <= upTo);
}

/** Returns the highest position. `undefined` means the end of the log, which is after any position. */
function furthestOf(positions: readonly (Position | undefined)[]): Position | undefined {
  if (positions.includes(undefined)) return undefined;
  return positions.reduce((furthest, one) => (isBefore(furthest, one) ? one : furthest), undefined);
}
