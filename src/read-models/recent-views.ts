const MOST = 5000;

/** The views written last, as they are in memory: most are changed again soon, and read. */
export class RecentViews {
  /** Two halves: when the newer one is full, the older one is forgotten. */
  #newer = new Map<string, unknown>();
  #older = new Map<string, unknown>();

  get(key: string): unknown {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  /** `undefined`: there is none of this key any more. */
  set(key: string, view: unknown): void {
    this.#older.delete(key);
    if (view === undefined) {
      this.#newer.delete(key);
      return;
    }
    this.#newer.set(key, view);
    if (this.#newer.size < MOST / 2) return;
    this.#older = this.#newer;
    this.#newer = new Map();
  }

  clear(): void {
    this.#newer.clear();
    this.#older.clear();
  }
}
