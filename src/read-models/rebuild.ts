import { type EventLog, isInLog, type Position, type RecordedEvent } from '../event-log/event-log.ts';
import { applyEvents, isBefore, oldestPosition, prefixesOf } from './apply-events.ts';
import { clearOfOtherLogs, markOf } from './of-this-log.ts';
import type { AnyProjection } from './projection.ts';
import { SqliteViewStore } from './sqlite-view-store.ts';
import { differencesBetween, type ViewDifference } from './view-difference.ts';
import { ViewFile } from './view-file.ts';
import { ViewFolder } from './view-folder.ts';
import { lacksPosition, laterGenerations, type ViewInUse, viewInUse } from './view-in-use.ts';
import { ViewWriter } from './view-writer.ts';

export type RebuildOptions = {
  readonly log: EventLog;
  /** Of the views. */
  readonly folder: string;
  /** Which log the positions are of. */
  readonly origin: string;
  readonly projections: readonly AnyProjection[];
  /** Build in this folder instead, only to compare: nothing that is built there can be taken into use. */
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

/** Events that are applied together, and whose views are written together. */
const [PAGE, TOGETHER] = [1000, 5000];

/**
 * Builds new generations of views beside those in use, from the log alone. What an interrupted rebuild has built
 * already is taken over. Of the files of the service it only reads, so it may run in a process of its own.
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

  /** The generations that were built, by the name of the view. */
  get generations(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#built.map(({ projection, generation }) => [projection.name, generation]));
  }

  get events(): number {
    return this.#events;
  }

  /** What {@link differences} has left out, though nothing need be wrong with it: a sentence each. */
  get notCompared(): readonly string[] {
    return this.#notCompared;
  }

  /** Reads as far as the views in use have got, or to the end of the log where there is none. */
  async build(): Promise<void> {
    const found = this.#built.map(({ table }) => table); // of a rebuild that was cut off, maybe of another log
    await clearOfOtherLogs(this.#options.log, found);
    await using writer = new ViewWriter();
    let written: Promise<unknown> = Promise.resolve();
    const save = async (tables: readonly ViewFile[]): Promise<void> => {
      await written; // while one page is written, the next one is read
      written = Promise.all(tables.map((table) => writer.write(table)));
      written.catch(() => undefined); // told by whoever waits for it next
    };
    await this.#advance(
      this.#built.map((built) => ({ ...built, upTo: positionOf(built.inUse) })),
      save,
    );
    await written;
    await this.#addLookups(writer);
  }

  /** Compares each with the view in use, both at the same position, and names what differs. */
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
      const fault = lacksPosition(inUse);
      if (fault !== undefined) yield { view: inUse.name, key: fault, kind: 'damaged' };
      else this.#leaveOut(inUse.name, 'is empty: a service is only beginning to fill it');
      return;
    }
    const last = markOf({ position: upTo, lastSeen: inUse.storedLastSeen() });
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

  /** Takes the generations into use while no service runs on the folder. */
  use(): void {
    this.#folder.use(this.generations);
  }

  /** The generations are in use: only those that were in use before are kept beside them. */
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
    const inUse = viewInUse(this.#folder, options); // before there is a file of this rebuild beside it
    const table = ViewFile.open(folder.fileOf(projection.name, generation), options);
    return { projection, generation, table, inUse };
  }

  /** Those of the table with the most of them here, the others in the writer's thread meanwhile. */
  async #addLookups(writer: ViewWriter): Promise<void> {
    const tables = this.#built.map(({ table }) => table).toSorted((a, b) => lookupsOf(b) - lookupsOf(a));
    const [most, ...others] = tables;
    const there = Promise.all(others.map((table) => writer.addLookups(table)));
    there.catch(() => undefined); // told below, unless something else is wrong before
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
      if (this.#events - saved < TOGETHER) return;
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

/** How many entries they have, about. */
function lookupsOf({ size, shape: { indexes = [], countedBy = [] } }: ViewFile): number {
  return size * (indexes.length + countedBy.length);
}

/** How far a generation is to be brought. */
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

/** `undefined`, the end of the log, is further than any position. */
function furthestOf(positions: readonly (Position | undefined)[]): Position | undefined {
  if (positions.includes(undefined)) return undefined;
  return positions.reduce((furthest, one) => (isBefore(furthest, one) ? one : furthest), undefined);
}
