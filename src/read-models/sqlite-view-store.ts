import { assertBuilt } from './built-generation.ts';
import { isOfTheDisk } from './sqlite-fault.ts';
import { TableInUse } from './table-in-use.ts';
import { ViewFile, type ViewFileOptions } from './view-file.ts';
import { ViewFolder } from './view-folder.ts';
import type { TableShape, ViewStore, ViewTable } from './view-store.ts';
import { viewUnavailable } from './view-unavailable.ts';

/** Views in a folder, a SQLite file each. */
export class SqliteViewStore implements ViewStore {
  readonly #folder: ViewFolder;
  readonly #origin: string;
  readonly #tables = new Map<string, TableInUse>();

  /** @param origin names the log whose positions are kept; views of another one are built anew. */
  static open(folder: string, origin: string): SqliteViewStore {
    return new SqliteViewStore(new ViewFolder(folder), origin);
  }

  private constructor(folder: ViewFolder, origin: string) {
    this.#folder = folder;
    this.#origin = origin;
  }

  open(shape: TableShape): ViewTable {
    const known = this.#tables.get(shape.name);
    if (known) return known;
    const file = this.#folder.fileOf(shape.name, this.#folder.current(shape.name));
    const table = new TableInUse(ViewFile.open(file, this.#optionsOf(shape)));
    this.#tables.set(shape.name, table);
    return table;
  }

  assertBuilt(shape: TableShape, generation: number): void {
    assertBuilt(this.#folder.fileOf(shape.name, generation), this.#optionsOf(shape));
  }

  openGeneration(shape: TableShape, generation: number): ViewTable & Disposable {
    this.assertBuilt(shape, generation);
    return ViewFile.openBuilt(this.#folder.fileOf(shape.name, generation), this.#optionsOf(shape));
  }

  save(tables: readonly ViewTable[]): void {
    for (const table of tables) {
      try {
        fileOf(table).save();
      } catch (error) {
        throw isOfTheDisk(error) ? viewUnavailable(fileOf(table), 'written', error) : error;
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

  get damage(): string | undefined {
    return this.#tables.values().find(({ damage }) => damage !== undefined)?.damage;
  }

  [Symbol.dispose](): void {
    for (const table of this.#tables.values()) table.file[Symbol.dispose]();
  }

  #optionsOf(shape: TableShape): ViewFileOptions {
    return { ...shape, origin: this.#origin };
  }
}

function fileOf(table: ViewTable): ViewFile {
  return table instanceof TableInUse ? table.file : (table as ViewFile); // a store gets back only its own tables
}
