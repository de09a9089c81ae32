/** A cache of values with a maximum total weight; the least recently used ones are evicted first. */
export class LruCache<Value> {
  readonly #half: number;
  readonly #weigh: (value: Value) => number;
  /**
   * When the newer half is full, it becomes the older one, and values not used since the previous switch are evicted.
   */
  #newer = new Map<string, Value>();
  #older = new Map<string, Value>();
  /** Weight of the newer half. */
  #weight = 0;

  /** @param most maximum total weight; without `weigh`, the maximum number of values. */
  constructor(most: number, weigh: (value: Value) => number = () => 1) {
    this.#half = Math.max(1, Math.floor(most / 2));
    this.#weigh = weigh;
  }

  get(key: string): Value | undefined {
    const value = this.#newer.get(key);
    if (value !== undefined) return value;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  /** Stores a value, unless it is heavier than half of the maximum. */
  set(key: string, value: Value): void {
    const weight = this.#weigh(value);
    if (weight > this.#half) return this.delete(key);
    this.#removeNewer(key);
    if (this.#weight + weight > this.#half) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#weight = 0;
    }
    this.#newer.set(key, value);
    this.#weight += weight;
  }

  delete(key: string): void {
    this.#removeNewer(key);
    this.#older.delete(key);
  }

  clear(): void {
    this.#newer.clear();
    this.#older.clear();
    this.#weight = 0;
  }

  #removeNewer(key: string): void {
    const value = this.#newer.get(key);
    if (value === undefined) return;
    this.#newer.delete(key);
    this.#weight -= this.#weigh(value);
  }
}
