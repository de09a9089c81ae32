import type { Position } from '../event-log/event-log.ts';
import { markDamaged } from './remove-view-file.ts';
import { isDamaged } from './sqlite-fault.ts';
import type { ViewFile } from './view-file.ts';
import type { Seen, ViewQuery, ViewTable } from './view-store.ts';
import { ViewUnavailable } from './view-unavailable.ts';

/** The generation in use, whichever that is: who holds the table sees the new one after a switch. */
export class TableInUse implements ViewTable {
  #file: ViewFile;
  #damage: string | undefined;

  constructor(file: ViewFile) {
    this.#file = file;
  }

  get file(): ViewFile {
    return this.#file;
  }

  /** Why it can be read no more, in a sentence. */
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

  get lastSeen(): Seen | undefined {
    return this.#file.lastSeen;
  }

  get queried(): Position | undefined {
    return this.#file.queried;
  }

  get unsaved(): number {
    return this.#file.unsaved;
  }

  take(views: ReadonlyMap<string, unknown>, last: Seen): void {
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

  /** @throws {ViewUnavailable} a page of the file is damaged: a service that starts makes it anew. */
  #read<Found>(read: (file: ViewFile) => Found): Found {
    try {
      return read(this.#file);
    } catch (cause) {
      if (!isDamaged(cause)) throw cause;
      const { name, file } = this.#file;
      this.#damage = `the view ${name} in ${file} is damaged: npm run rebuild -- ${name} mends it, or a new start.`;
      markDamaged(file);
      throw new ViewUnavailable(`What is asked for cannot be read: ${this.#damage}`, { cause });
    }
  }
}
