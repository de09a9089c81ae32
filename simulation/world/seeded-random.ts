import { uuidOf } from '../../src/event-log/uuid.ts';

/** A seeded generator (sfc32). Generators with different labels are independent of each other. */
export class SeededRandom {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, label: string) {
    let hash = 0x811c9dc5;
    for (const character of `${seed}/${label}`)
      hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
    this.#a = hash;
    this.#b = hash ^ 0x9e3779b9;
    this.#c = Math.imul(hash, 0x85ebca6b);
    for (let round = 0; round < 12; round++) this.next();
  }

  /** Returns a number from 0 up to, but not including, 1. */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4294967296;
  }

  /** Returns a whole number from 0 up to, but not including, `limit`. */
  int(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.int(items.length)] as Item;
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last--) {
      const other = this.int(last + 1);
      [shuffled[last], shuffled[other]] = [shuffled[other] as Item, shuffled[last] as Item];
    }
    return shuffled;
  }

  bytes(count: number): Buffer {
    return this.#filled(Buffer.alloc(count));
  }

  uuid(): string {
    const bytes = this.#filled(Buffer.allocUnsafe(16)); // of a pool, so that it costs no allocation outside of the heap
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    return uuidOf(bytes.toString('hex'));
  }

  #filled(bytes: Buffer): Buffer {
    for (let index = 0; index < bytes.length; index++) bytes[index] = this.int(256);
    return bytes;
  }
}
