import type { ViewSchema } from '../projection.ts';
import type { View } from '../view.ts';
import { assertBuilt, isBuilt } from './assert-built.ts';
import { openViewFile } from './open-view-file.ts';
import type { ViewFile } from './view-file.ts';
import { ViewFolder } from './view-folder.ts';

/**
 * Stores all views of this node in one SQLite file; a rebuild replaces it by the next generation. They may be
 * deleted at any time: they are rebuilt from the log. Synchronous, since it is local and every request reads it.
 */
export class SqliteViewStore {
  readonly #folder: ViewFolder;
  readonly #origin: string;
  #file: ViewFile;

  /** @param origin identity of the log whose positions are stored; views of another log are rebuilt. */
  static open(folder: string, origin: string): SqliteViewStore {
    return new SqliteViewStore(new ViewFolder(folder), origin);
  }

  private constructor(folder: ViewFolder, origin: string) {
    this.#folder = folder;
    this.#origin = origin;
    this.#file = openViewFile(folder.fileOf(folder.current), origin);
  }

  /** The generation in use. */
  get file(): ViewFile {
    return this.#file;
  }

  /**
   * Adds a view. If the file has applied events without this version of it, uses the generation that a rebuild has built
   * for this release; without one, all views begin again. Readers of the view see the next generation after a switch.
   */
  add(schema: ViewSchema): View<unknown> {
    if (!this.#file.add(schema)) {
      const { path, schemas } = this.#file;
      this.#file[Symbol.dispose]();
      this.#file = openViewFile(this.#builtFor([...schemas, schema]) ?? path, this.#origin, [
        ...schemas,
        schema,
      ]);
    }
    const { name } = schema;
    return {
      get: (key) => this.#file.get(name, key),
      values: () => this.#file.table(name).values(),
      find: (query) => this.#file.read(name, (table) => table.find(query)),
      count: (query) => this.#file.read(name, (table) => table.count(query)),
      counts: (equal) => this.#file.read(name, (table) => table.counts(equal)),
    };
  }

  /**
   * Opens a generation that is not in use. @throws {ViewUnavailable} it is missing, or not of these views and
   * this log.
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

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}
