/** Remembers values that together weigh no more than `most`; what was not used for long leaves first. */
export class RecentlyUsed<Value> {
  readonly #half: number;
  readonly #weigh: (value: Value) => number;
  /** When the newer half is full, it becomes the older one, and what was not used since the last time is forgotten. */
  #newer = new Map<string, Value>();
  #older = new Map<string, Value>();
  /** Of the newer half. */
  #weight = 0;

  /** Unless they are weighed, `most` is the number of values. */
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

  /** What is heavier than half of all is not kept. */
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
