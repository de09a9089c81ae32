import { files } from '../../tools/files.ts';
import type { ViewSchema } from '../projection.ts';
import type { View } from '../view.ts';
import { ViewUnavailable, viewUnavailable } from '../view-unavailable.ts';
import { openViewFile } from './open-view-file.ts';
import { ViewFile } from './view-file.ts';
import { removeViewFile, ViewFolder } from './view-folder.ts';
import { inPages, type ViewTable } from './view-table.ts';

type Queries = Omit<View<unknown>, 'settled'>;

/**
 * Stores all views of this node in one SQLite file; a rebuild replaces it by the next generation. They may be deleted
 * at any time: they are rebuilt from the log. Synchronous, since it is local and every request reads it.
 */
export class SqliteViewStore {
  readonly #folder: ViewFolder;
  readonly #origin: string;
  #file: ViewFile;
  #settle: () => Promise<void> = async () => this.#file.save();

  /** @param origin the engine of the log whose positions are stored; views of another one are rebuilt. */
  constructor(folder: string, origin: string) {
    this.#folder = new ViewFolder(folder);
    this.#origin = origin;
    this.#file = openViewFile(this.#folder.fileOf(this.#folder.current), origin);
  }

  /** The generation in use. */
  get file(): ViewFile {
    return this.#file;
  }

  get folder(): string {
    return this.#folder.path;
  }

  /**
   * Adds a view. If the file has applied events without this version of it, uses the generation that a rebuild has built
   * for this release; without one, all views begin again. Readers of the view see the next generation after a switch.
   */
  add(schema: ViewSchema): View<unknown> {
    if (!this.#file.add(schema)) {
      const { path, schemas } = this.#file;
      const wanted = [...schemas, schema];
      this.#file[Symbol.dispose]();
      this.#file = openViewFile(this.#builtFor(wanted) ?? path, this.#origin, wanted);
    }
    const { name } = schema;
    const settled: View<unknown> = { ...this.#queries(name, false), settled: async () => settled };
    return {
      ...this.#queries(name, true),
      settled: async () => {
        if (!this.#file.memory.isWritten(name)) await this.#settle();
        return settled;
      },
    };
  }

  /** Names the function that writes what the views have accepted; by default, the caller of a query writes it. */
  settleBy(settle: () => Promise<void>): void {
    this.#settle = settle;
  }

  #queries(name: string, saves: boolean): Queries {
    const read = <Found>(from: (table: ViewTable) => Found) => this.#file.read(name, from, saves);
    const pageAfter = (key?: string) => read((table) => table.page(key));
    return {
      get: (key) => this.#file.get(name, key),
      values: () => inPages(pageAfter).map(({ view }) => JSON.parse(view) as unknown),
      find: (query) => read((table) => table.find(query)),
      candidateAt: (query, place) => read((table) => table.candidateAt(query, place)),
      count: (query) => read((table) => table.count(query)),
      counts: (equal) => read((table) => table.counts(equal)),
    };
  }

  /**
   * Opens a generation that is not in use. @throws {ViewUnavailable} it is missing, or not of these views and this log.
   */
  openGeneration(generation: number): ViewFile {
    const [file, { schemas }] = [this.#folder.fileOf(generation), this.#file];
    assertBuilt(file, this.#origin, schemas);
    const opened = openViewFile(file, this.#origin, schemas);
    opened.dropOthers();
    return opened;
  }

  /** Returns the file of the generation that a rebuild has built with these views next to the one in use, if any. */
  #builtFor(schemas: readonly ViewSchema[]): string | undefined {
    const next = this.#folder.current + 1;
    const file = this.#folder.fileOf(next);
    if (!isBuilt(file, this.#origin, schemas)) return undefined;
    this.#folder.use(next);
    return file;
  }

  /** Replaces all views by `generation`, for all their readers; the old generation stays on disk. */
  use(generation: number, file: ViewFile): void {
    this.#folder.use(generation);
    this.#file[Symbol.dispose]();
    this.#file = file;
  }

  /**
   * Replaces the file in use, which has applied no event, by another one, which is moved here. After an error the views
   * are empty again.
   * @throws {ViewUnavailable} it is not of these views and this log
   */
  replaceBy(file: string): void {
    const { path, schemas } = this.#file;
    assertBuilt(file, this.#origin, schemas);
    this.#file[Symbol.dispose]();
    try {
      removeViewFile(path);
      files.renameSync(file, path);
    } finally {
      this.#file = openViewFile(path, this.#origin, schemas);
    }
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}

/**
 * Verifies a generation before it is taken into use, without changing it: a file that another release has built is left
 * for that release.
 * @throws {ViewUnavailable} it is missing, or not of these views and this log
 */
function assertBuilt(file: string, origin: string, schemas: readonly ViewSchema[]): void {
  if (!files.existsSync(file))
    throw new ViewUnavailable(`There is no ${file} that the views could be switched to.`);
  const { built, wanted } = differenceOf(file, origin, schemas);
  if (built === wanted) return;
  throw new ViewUnavailable(
    `The views cannot be switched to ${file}, which has ${built}: the running service shows ${wanted}. The release of this command uses it from its next start on.`,
  );
}

/** Whether the file is a generation of these views and this log. Returns `false` for a file that cannot be read. */
function isBuilt(file: string, origin: string, schemas: readonly ViewSchema[]): boolean {
  try {
    assertBuilt(file, origin, schemas);
    return true;
  } catch {
    return false;
  }
}

function differenceOf(file: string, origin: string, schemas: readonly ViewSchema[]) {
  try {
    using found = new ViewFile(file);
    const [about, versions] = [found.about(), found.versions()];
    const other = schemas.find(({ name, version }) => versions.get(name) !== version);
    const of = (version: number | undefined, log: string | undefined): string =>
      `${other ? `version ${version ?? 'unknown'} of ${other.name}` : 'the views'} of the log ${log ?? 'unknown'}`;
    return {
      built: of(other && versions.get(other.name), about?.origin),
      wanted: of(other?.version, origin),
    };
  } catch (error) {
    throw viewUnavailable(file, 'opened', error);
  }
}
