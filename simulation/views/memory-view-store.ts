import type { EventRef, ViewQuery, ViewSchema, ViewStore, ViewTable } from '../../src/views/view-store.ts';
import type { Host } from '../world/host.ts';
import { running } from '../world/host.ts';
import { world } from '../world/world.ts';

type SavedTable = { readonly views: Map<string, unknown>; last: EventRef | undefined };

/** A view store whose saved tables are on the simulated disk of a host: a process that dies loses what it took since. */
export class MemoryViewStore implements ViewStore {
  readonly damage = undefined;
  readonly tables = new Map<string, MemoryViewTable>();
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  open(shape: ViewSchema): MemoryViewTable {
    const { disk } = this.#host;
    const path = `views/${shape.name}`;
    if (!disk.has(path)) disk.set(path, { views: new Map(), last: undefined } satisfies SavedTable);
    const table = new MemoryViewTable(shape, disk.get(path) as SavedTable);
    this.tables.set(shape.name, table);
    return table;
  }

  save(tables: readonly ViewTable[]): void {
    for (const table of tables) this.tables.get(table.name)?.save();
    world().called(running.getStore(), 'view save', 'done');
  }

  addLookups(): void {
    // Every query looks at all views.
  }

  assertBuilt(): void {
    throw new Error('No views are rebuilt in the simulation.');
  }

  openGeneration(): never {
    throw new Error('No views are rebuilt in the simulation.');
  }

  replace(): void {
    throw new Error('No views are rebuilt in the simulation.');
  }

  [Symbol.dispose](): void {
    // Nothing is open.
  }
}

class MemoryViewTable implements ViewTable {
  readonly name: string;
  readonly views: Map<string, unknown>;
  readonly #shape: ViewSchema;
  readonly #saved: SavedTable;
  readonly #changed = new Set<string>();
  #last: EventRef | undefined;

  constructor(shape: ViewSchema, saved: SavedTable) {
    this.name = shape.name;
    this.#shape = shape;
    this.#saved = saved;
    this.views = new Map(saved.views);
    this.#last = saved.last;
  }

  get position(): string | undefined {
    return this.#last?.position;
  }

  get lastSeen(): EventRef | undefined {
    return this.#last;
  }

  get queryablePosition(): string | undefined {
    this.save();
    return this.position;
  }

  get unsaved(): number {
    return this.#changed.size;
  }

  take(views: ReadonlyMap<string, unknown>, { id, stream, revision, position }: EventRef): void {
    for (const [key, view] of views) {
      setOrDelete(this.views, key, view);
      this.#changed.add(key);
    }
    this.#last = { id, stream, revision, position };
  }

  save(): void {
    for (const key of this.#changed) setOrDelete(this.#saved.views, key, this.views.get(key));
    this.#changed.clear();
    this.#saved.last = this.#last;
  }

  clear(): void {
    this.views.clear();
    this.#saved.views.clear();
    this.#changed.clear();
    this.#last = undefined;
    this.#saved.last = undefined;
  }

  get(key: string): unknown {
    return this.views.get(key);
  }

  *values(): IterableIterator<unknown> {
    for (const key of [...this.views.keys()].sort()) yield this.views.get(key);
  }

  find({ equal = {}, from, upTo, orderBy, descending, limit, offset = 0 }: ViewQuery): unknown[] {
    const found = (this.#all() as Row[]).filter(
      (row) =>
        isEqual(row, equal) &&
        isIn(row, from, (value, least) => value >= least) &&
        isIn(row, upTo, (value, most) => value <= most),
    );
    if (orderBy) found.sort((one, other) => compare(one[orderBy], other[orderBy]));
    if (descending) found.reverse();
    return found.slice(offset, offset + limit);
  }

  count(query: Omit<ViewQuery, 'limit'>): number {
    return this.find({ ...query, limit: Infinity }).length;
  }

  counts(equal: Readonly<Record<string, string>> = {}): ReadonlyMap<string, number> {
    const field = this.#shape.countedBy?.at(-1) ?? '';
    const counts = new Map<string, number>();
    for (const row of this.#all() as Row[]) {
      if (!isEqual(row, equal)) continue;
      const value = String(row[field]);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return counts;
  }

  #all(): unknown[] {
    return [...this.values()];
  }
}

type Row = Readonly<Record<string, string | number | null | undefined>>;
type Bound = ViewQuery['from'];

function setOrDelete(views: Map<string, unknown>, key: string, view: unknown): void {
  if (view === undefined) views.delete(key);
  else views.set(key, view);
}

function isEqual(row: Row, equal: Readonly<Record<string, string | number>>): boolean {
  return Object.entries(equal).every(([field, value]) => row[field] === value);
}

function isIn(
  row: Row,
  bound: Bound,
  isWithin: (value: string | number, bound: string | number) => boolean,
): boolean {
  if (!bound) return true;
  const value = row[bound.field];
  return value !== null && value !== undefined && isWithin(value, bound.value);
}

function compare(one: Row[string], other: Row[string]): number {
  if (one === other) return 0;
  return (one ?? '') < (other ?? '') ? -1 : 1;
}
