/**
 * A set of keys of the same length whose bytes are evenly spread, as those of hashes are. Takes one and a half to
 * three times the bytes of its keys, where a Set of strings takes a hundred more for each. The key of zeros alone
 * is never in it.
 */
export class KeySet {
  readonly #width: number;
  #slots = 1024;
  #table: Uint8Array;
  #size = 0;

  /** `width`: bytes of a key, at least 4. */
  constructor(width: number) {
    this.#width = width;
    this.#table = new Uint8Array(this.#slots * width);
  }

  get size(): number {
    return this.#size;
  }

  has(key: Uint8Array): boolean {
    return this.#matches(this.#slotOf(key), key);
  }

  /** False when it was there. */
  add(key: Uint8Array): boolean {
    const slot = this.#slotOf(key);
    if (this.#matches(slot, key)) return false;
    this.#table.set(key.subarray(0, this.#width), slot * this.#width);
    this.#size += 1;
    if (this.#size > this.#slots * MOST_FULL) this.#grow();
    return true;
  }

  /** Where the key is or would go. */
  #slotOf(key: Uint8Array): number {
    let slot = new DataView(key.buffer, key.byteOffset).getUint32(0) % this.#slots;
    while (!this.#isFree(slot) && !this.#matches(slot, key)) slot = (slot + 1) % this.#slots;
    return slot;
  }

  #isFree(slot: number): boolean {
    const start = slot * this.#width;
    for (let at = start; at < start + this.#width; at += 1) if (this.#table[at] !== 0) return false;
    return true;
  }

  #matches(slot: number, key: Uint8Array): boolean {
    const start = slot * this.#width;
    for (let at = 0; at < this.#width; at += 1) if (this.#table[start + at] !== key[at]) return false;
    return true;
  }

  #grow(): void {
    const [old, slots] = [this.#table, this.#slots];
    this.#slots = Math.ceil(slots * GROWTH);
    this.#table = new Uint8Array(this.#slots * this.#width);
    this.#size = 0;
    for (let slot = 0; slot < slots; slot += 1) {
      const key = old.subarray(slot * this.#width, (slot + 1) * this.#width);
      if (key.some((byte) => byte !== 0)) this.add(key);
    }
  }
}

const MOST_FULL = 0.7;
const GROWTH = 1.6;
