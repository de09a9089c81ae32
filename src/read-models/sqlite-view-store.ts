import type { Position } from '../event-log/event-log.ts';
import { assertBuilt } from './built-generation.ts';
import { isOfTheDisk } from './sqlite-fault.ts';
import { ViewFile, type ViewFileOptions } from './view-file.ts';
import { ViewFolder } from './view-folder.ts';
import type { Seen, TableShape, ViewQuery, ViewStore, ViewTable } from './view-store.ts';
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

  [Symbol.dispose](): void {
    for (const table of this.#tables.values()) table.file[Symbol.dispose]();
  }

  #optionsOf(shape: TableShape): ViewFileOptions {
    return { ...shape, origin: this.#origin };
  }
}

/** The generation in use, whichever that is: who holds the table sees the new one after a switch. */
class TableInUse implements ViewTable {
  #file: ViewFile;

  constructor(file: ViewFile) {
    this.#file = file;
  }

  get file(): ViewFile {
    return this.#file;
  }

  use(file: ViewFile): void {
    this.#file[Symbol.dispose]();
    this.#file = file;
  }

  get name(): string {
    return this.#file.name;
  }

  get position(): Position | undefined {
    return this.#file.position;
  }

  get lastSeen(): Seen | undefined {
    return this.#file.lastSeen;
  }

  get queried(): Position | undefined {
    return this.#file.queried;
  }

  get unsaved(): number {
    return this.#file.unsaved;
  }

  get size(): number {
    return this.#file.size;
  }

  take(views: ReadonlyMap<string, unknown>, last: Seen): void {
    this.#file.take(views, last);
  }

  clear(): void {
    this.#file.clear();
  }

  get(key: string): unknown {
    return this.#file.get(key);
  }

  values(): IterableIterator<unknown> {
    return this.#file.values();
  }

  find(query: ViewQuery): unknown[] {
    return this.#file.find(query);
  }

  count(query: Omit<ViewQuery, 'limit'>): number {
    return this.#file.count(query);
  }

  counts(equal?: Readonly<Record<string, string>>): ReadonlyMap<string, number> {
    return this.#file.counts(equal);
  }
}

function fileOf(table: ViewTable): ViewFile {
  return table instanceof TableInUse ? table.file : (table as ViewFile); // a store gets back only its own tables
}
