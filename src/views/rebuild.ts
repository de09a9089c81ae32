import path from 'node:path';
import { type EventLog, isInLog, type Position, type RecordedEvent } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import { isFull } from '../tools/sqlite/codes.ts';
import { applyEvents, isBefore, prefixesOf } from './apply-events.ts';
import type { AnyProjection } from './projection.ts';
import { resetForeign } from './reset-foreign.ts';
import { inspectViews, otherVersion, type ViewsInUse } from './store/inspect-views.ts';
import { openViewFile } from './store/open-view-file.ts';
import type { ViewFile } from './store/view-file.ts';
import { removeViewFile, ViewFolder } from './store/view-folder.ts';
import { ViewWriter } from './store/view-writer.ts';
import { differencesBetween, type ViewDifference } from './view-difference.ts';
import { ViewUnavailable } from './view-unavailable.ts';

type RebuildOptions = {
  readonly log: EventLog;
  /** Folder of the views. */
  readonly folder: string;
  /** The engine of the log that the positions belong to. */
  readonly origin: string;
  readonly projections: readonly AnyProjection[];
  /** Folder for the built file instead, for comparison only: it cannot be taken into use. */
  readonly checkIn?: string;
  /** Names of views that a running service has built in their present versions: the file cannot have others. */
  readonly served?: readonly string[];
  readonly progress: (events: number, position: Position | undefined) => void;
  readonly signal?: AbortSignal | undefined;
};

/** Why a view cannot be as it is, as a clause. */
const [SERVED, NEWER] = [
  'the running service has built it, so the file was changed',
  'a newer release has built it, or the file was changed',
];

/** Number of events that are applied together, and number of events after which views are written. */
const [PAGE, EVENTS_PER_SAVE] = [1000, 5000];

/**
 * Builds the next generation of the views from the log alone, while the present one stays in use. Reuses what an
 * interrupted rebuild left. Only reads the files of the service, so it may run in a separate process.
 */
export class Rebuild implements Disposable {
  readonly #options: RebuildOptions;
  readonly #folder: ViewFolder;
  readonly #inUse: ViewsInUse;
  readonly #built: ViewFile;
  readonly #notCompared: string[] = [];
  readonly generation: number;
  #events = 0;

  constructor(options: RebuildOptions) {
    const { folder, checkIn, origin, projections } = options;
    this.#options = options;
    this.#folder = new ViewFolder(folder);
    this.generation = this.#folder.current + 1;
    this.#inUse = inspectViews(this.#folder, origin); // before the file of this rebuild exists
    const file = new ViewFolder(checkIn ?? folder).fileOf(this.generation);
    try {
      this.#built = openViewFile(file, origin, projections);
      this.#built.dropOthers();
    } catch (error) {
      throw withoutUnfinished(file, this.#inUse, error);
    }
  }

  get events(): number {
    return this.#events;
  }

  /** The views that {@link differences} skipped though they may be correct, as one sentence each. */
  get notCompared(): readonly string[] {
    return this.#notCompared;
  }

  /**
   * Reads up to the position of the views in use, or to the end of the log without any.
   * @throws {ViewUnavailable} on a full disk, with nothing left of what was built.
   */
  build(): Promise<void> {
    return this.#unlessFull(this.#build());
  }

  async #build(): Promise<void> {
    await resetForeign(this.#options.log, this.#built); // from an interrupted rebuild, maybe of another log
    await using writer = new ViewWriter(this.#built, 'built');
    let written = Promise.resolve();
    const upTo = this.#inUse.kind === 'readable' ? this.#inUse.file.storedLastSeen()?.position : undefined;
    await this.#advance(upTo, async () => {
      await written; // while one page is written, the next one is read
      written = writer.write();
      written.catch(() => undefined); // reported by the next await of it
    });
    await written;
    await writer.addLookups(this.#options.signal);
  }

  /**
   * Compares views with those in use, both at the same position, and yields the differences.
   * @param names the views to compare; all of them by default.
   */
  async *differences(names?: readonly string[]): AsyncGenerator<ViewDifference> {
    this.#notCompared.length = 0;
    const inUse = this.#inUse;
    if (inUse.kind === 'damaged') yield this.#damage(inUse.why);
    else if (inUse.kind === 'readable') yield* this.#differencesFrom(inUse.file, names);
    else if (inUse.kind === 'not comparable' && this.#isServed())
      yield this.#damage(`${inUse.why}; ${SERVED}`);
    else if (inUse.kind === 'not comparable') this.#notCompared.push(noneCompared(inUse.why));
    else this.#notCompared.push(`No view was compared: ${inUse.why}.`);
    if (this.#options.checkIn !== undefined) this.#noteLaterGenerations();
  }

  async *#differencesFrom(inUse: ViewFile, names?: readonly string[]): AsyncGenerator<ViewDifference> {
    using _moment = inUse.snapshot();
    const { log, projections } = this.#options;
    const last = inUse.storedLastSeen();
    if (last === undefined) {
      const fault = faultWithoutPosition(inUse);
      if (fault !== undefined) yield this.#damage(fault);
      else this.#notCompared.push('No view was compared: a service has just begun to build them.');
      return;
    }
    if (!(await isInLog(log, last))) {
      if (this.#isServed())
        yield this.#damage(`the log does not have the event that it has seen last; ${SERVED}`);
      else this.#notCompared.push(noneCompared('they are of another log, as after a restore'));
      return;
    }
    const built = this.#built.lastSeen?.position;
    if (isBefore(last.position, built)) {
      const why = 'those in use are behind those built, as while a service fills them';
      this.#notCompared.push(`No view was compared: ${why}.`);
      return;
    }
    if (isBefore(built, last.position))
      await this.#unlessFull(this.#advance(last.position, () => this.#built.save()));
    for (const projection of projections) {
      const { name } = projection;
      if (names && !names.includes(name)) continue;
      await this.#assertNotStopped();
      const other = otherVersion(inUse, projection);
      if (other === undefined) {
        const note = yield* differencesBetween(inUse, this.#built, name);
        if (note !== undefined) this.#notCompared.push(note);
      } else if (this.#isServed(name))
        yield { view: name, key: `it ${other.why}; ${SERVED}`, kind: 'damaged' };
      else if (other.isNewer) yield { view: name, key: `it ${other.why}; ${NEWER}`, kind: 'damaged' };
      else
        this.#notCompared.push(
          `The view ${name} was not compared: it ${other.why}: a service that uses it builds it when it starts.`,
        );
    }
    await this.#assertNotStopped();
    for (const text of damageOf(inUse)) yield this.#damage(text);
    await this.#assertNotStopped();
  }

  /** Lets signals of the process arrive, which a comparison does not wait for. @throws the reason of the signal */
  async #assertNotStopped(): Promise<void> {
    await clock.nextTurn();
    this.#options.signal?.throwIfAborted();
  }

  /** Whether a running service has built this view; without a name, whether it has built any. */
  #isServed(name?: string): boolean {
    const { served = [] } = this.#options;
    return name === undefined ? served.length > 0 : served.includes(name);
  }

  /** A generation that is not in use is of an interrupted rebuild, or of one that a service is to adopt. */
  #noteLaterGenerations(): void {
    for (const generation of this.#folder.generations.filter((number) => number > this.#folder.current)) {
      this.#notCompared.push(
        `Generation ${generation} of the views was not compared: current.json does not name it. A rebuild is running or was interrupted, unless current.json was changed or removed.`,
      );
    }
  }

  /** Returns the names of views that are in use in another version: those of a service of another release. */
  inOtherVersions(): readonly string[] {
    if (this.#inUse.kind !== 'readable') return [];
    const versions = this.#inUse.file.versions();
    return this.#options.projections
      .filter(({ name, version }) => (versions.get(name) ?? version) !== version)
      .map(({ name }) => name);
  }

  /** Takes the generation into use. No service may be running on the folder. */
  use(): void {
    this.#folder.use(this.generation);
  }

  /** Removes all generations except the one now in use and its direct predecessor. */
  finish(): void {
    this.#folder.keepOnly([this.generation - 1, this.generation]);
  }

  [Symbol.dispose](): void {
    this.#built[Symbol.dispose]();
    if (this.#inUse.kind === 'readable') this.#inUse.file[Symbol.dispose]();
  }

  async #unlessFull(building: Promise<void>): Promise<void> {
    try {
      await building;
    } catch (error) {
      throw withoutUnfinished(this.#built.path, this.#inUse, error, this.#built);
    }
  }

  /** Describes damage of the file as a whole. */
  #damage(text: string): ViewDifference {
    const file = this.#folder.fileOf(this.#folder.current);
    return { view: path.basename(file), key: text, kind: 'damaged' };
  }

  /** Applies the events up to a position, which may be the end of the log. */
  async #advance(upTo: Position | undefined, save: () => Promise<void> | void): Promise<void> {
    const { log, projections, progress, signal } = this.#options;
    let [saved, page] = [this.#events, [] as RecordedEvent[]];
    const apply = async (isLast: boolean): Promise<void> => {
      applyEvents(this.#built, projections, page);
      this.#events += page.length;
      page = [];
      if (!isLast && this.#events - saved < EVENTS_PER_SAVE) return;
      await save();
      saved = this.#events;
      progress(saved, this.#built.lastSeen?.position);
    };
    const range = { after: this.#built.lastSeen?.position, streamPrefixes: prefixesOf(projections) };
    for await (const event of log.readAll({ ...range, signal })) {
      if (upTo !== undefined && event.position > upTo) break;
      if (page.push(event) === PAGE) await apply(false);
    }
    await apply(true);
  }
}

/**
 * Returns the error with which a rebuild ends. On a full disk it removes what was built: a service whose log or views are
 * on that disk could not write until then.
 */
function withoutUnfinished(file: string, inUse: ViewsInUse, error: unknown, built?: ViewFile): unknown {
  if (!(error instanceof ViewUnavailable && isFull(error.cause))) return error;
  built?.[Symbol.dispose](); // the space of an open file is not free
  removeViewFile(file);
  const size = inUse.kind === 'readable' ? `, which have ${(inUse.file.size / 1e6).toFixed(1)} MB` : '';
  const text = `${error.message} The unfinished views were removed. A rebuild needs about twice the space of the views in use${size}.`;
  return new ViewUnavailable(text, { cause: error.cause });
}

function noneCompared(why: string): string {
  return `No view was compared: ${why}: the service builds them when it starts.`;
}

/**
 * Returns a description of the error if there are views without a position. The service writes both in one transaction,
 * so it cannot have written such a file.
 */
function faultWithoutPosition(file: ViewFile): string | undefined {
  try {
    const sizes = Array.from(file.versions().keys(), (name) => file.table(name).size);
    const size = sizes.reduce((sum, one) => sum + one, 0);
    return size === 0 ? undefined : `it holds ${size} entries but no position in the log`;
  } catch (error) {
    return (error as Error).message; // message of SQLite
  }
}

function damageOf(file: ViewFile): readonly string[] {
  try {
    return file.integrityFaults();
  } catch (error) {
    return [(error as Error).message]; // message of SQLite
  }
}
