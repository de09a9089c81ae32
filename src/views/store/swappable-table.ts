import type { Position } from '../../event-log/event-log.ts';
import type { EventRef, ViewQuery, ViewTable } from '../view-store.ts';
import { ViewUnavailable } from '../view-unavailable.ts';
import { markDamaged } from './remove-view-file.ts';
import { isDamaged } from './sqlite-errors.ts';
import type { ViewFile } from './view-file.ts';

/** A table that always reads the generation in use: its users see the new one after a switch. */
export class SwappableTable implements ViewTable {
  #file: ViewFile;
  #damage: string | undefined;

  constructor(file: ViewFile) {
    this.#file = file;
  }

  get file(): ViewFile {
    return this.#file;
  }

  /** The reason why the view cannot be read, as a sentence. */
  get damage(): string | undefined {
    return this.#damage;
  }

  use(file: ViewFile): void {
    this.#file[Symbol.dispose]();
    this.#file = file;
    this.#damage = undefined;
  }

  get name(): string {
    return this.#file.name;
  }

  get position(): Position | undefined {
    return this.#file.position;
  }

  get lastSeen(): EventRef | undefined {
    return this.#file.lastSeen;
  }

  get queryablePosition(): Position | undefined {
    return this.#file.queryablePosition;
  }

  get unsaved(): number {
    return this.#file.unsaved;
  }

  take(views: ReadonlyMap<string, unknown>, last: EventRef): void {
    this.#file.take(views, last);
  }

  clear(): void {
    this.#file.clear();
  }

  get(key: string): unknown {
    return this.#read((file) => file.get(key));
  }

  values(): IterableIterator<unknown> {
    return this.#file.values();
  }

  find(query: ViewQuery): unknown[] {
    return this.#read((file) => file.find(query));
  }

  count(query: Omit<ViewQuery, 'limit'>): number {
    return this.#read((file) => file.count(query));
  }

  counts(equal?: Readonly<Record<string, string>>): ReadonlyMap<string, number> {
    return this.#read((file) => file.counts(equal));
  }

  /** @throws {ViewUnavailable} a page of the file is corrupt: the next start of the service rebuilds it. */
  #read<Found>(read: (file: ViewFile) => Found): Found {
    try {
      return this.#file.readTwice(() => read(this.#file));
    } catch (cause) {
      if (!isDamaged(cause)) throw cause;
      const { name, file } = this.#file;
      this.#damage = `the view ${name} in ${file} is damaged: npm run rebuild -- ${name} mends it, or a new start.`;
      markDamaged(file);
      throw new ViewUnavailable(`What is asked for cannot be read: ${this.#damage}`, { cause });
    }
  }
}
