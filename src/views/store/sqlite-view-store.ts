import type { ViewSchema, ViewStore, ViewTable } from '../view-store.ts';
import { viewUnavailable } from '../view-unavailable.ts';
import { assertBuilt } from './generation.ts';
import { isDiskError } from './sqlite-errors.ts';
import { SwappableTable } from './swappable-table.ts';
import { ViewFile, type ViewFileOptions } from './view-file.ts';
import { ViewFolder } from './view-folder.ts';

/** Stores views in a folder, as one SQLite file each. */
export class SqliteViewStore implements ViewStore {
  readonly #folder: ViewFolder;
  readonly #origin: string;
  readonly #tables = new Map<string, SwappableTable>();

  /** @param origin identity of the log whose positions are stored; views of another log are rebuilt. */
  static open(folder: string, origin: string): SqliteViewStore {
    return new SqliteViewStore(new ViewFolder(folder), origin);
  }

  private constructor(folder: ViewFolder, origin: string) {
    this.#folder = folder;
    this.#origin = origin;
  }

  open(shape: ViewSchema): ViewTable {
    const known = this.#tables.get(shape.name);
    if (known) return known;
    const file = this.#folder.fileOf(shape.name, this.#folder.current(shape.name));
    const table = new SwappableTable(ViewFile.open(file, this.#optionsOf(shape)));
    this.#tables.set(shape.name, table);
    return table;
  }

  assertBuilt(shape: ViewSchema, generation: number): void {
    assertBuilt(this.#folder.fileOf(shape.name, generation), this.#optionsOf(shape));
  }

  openGeneration(shape: ViewSchema, generation: number): ViewTable & Disposable {
    this.assertBuilt(shape, generation);
    return ViewFile.openBuilt(this.#folder.fileOf(shape.name, generation), this.#optionsOf(shape));
  }

  save(tables: readonly ViewTable[]): void {
    for (const table of tables) {
      try {
        fileOf(table).save();
      } catch (error) {
        throw isDiskError(error) ? viewUnavailable(fileOf(table), 'written', error) : error;
      }
    }
  }

  addLookups(table: ViewTable): void {
    fileOf(table).addLookups();
  }

  replace(table: ViewTable, generation: ViewTable): void {
    const inUse = this.#tables.get(table.name);
    const file = fileOf(generation);
    const [, number] = /\.(\d+)\.sqlite$/.exec(file.file) ?? [];
    this.#folder.use({ [table.name]: Number(number) });
    inUse?.use(file);
  }

  /** Returns the file of a view that was opened. */
  opened(name: string): ViewFile | undefined {
    return this.#tables.get(name)?.file;
  }

  get damage(): string | undefined {
    return this.#tables.values().find(({ damage }) => damage !== undefined)?.damage;
  }

  [Symbol.dispose](): void {
    for (const table of this.#tables.values()) table.file[Symbol.dispose]();
  }

  #optionsOf(shape: ViewSchema): ViewFileOptions {
    return { ...shape, origin: this.#origin };
  }
}

function fileOf(table: ViewTable): ViewFile {
  return table instanceof SwappableTable ? table.file : (table as ViewFile); // a store gets back only its own tables
}
