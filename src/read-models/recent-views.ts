const MOST = 5000;

/** The views written last, as they are in memory: most are changed again soon, and read. */
export class RecentViews {
  readonly #views = new Map<string, unknown>(); // the one written longest ago comes first

  get(key: string): unknown {
    return this.#views.get(key);
  }

  /** `undefined`: there is none of this key any more. */
  set(key: string, view: unknown): void {
    this.#views.delete(key);
    if (view === undefined) return;
    this.#views.set(key, view);
    if (this.#views.size <= MOST) return;
    const [oldest] = this.#views.keys();
    if (oldest !== undefined) this.#views.delete(oldest);
  }

  clear(): void {
    this.#views.clear();
  }
}
