/** Holds back what a node would do while its process is stopped. */
export class PauseGate {
  #held: (() => void)[] | undefined;

  get isClosed(): boolean {
    return this.#held !== undefined;
  }

  /** Does it now, or, in order, when the gate opens. */
  run(work: () => void): void {
    if (this.#held) this.#held.push(work);
    else work();
  }

  /** Resolves when the gate is open. */
  async open(): Promise<void> {
    if (this.#held) await new Promise<void>((resolve) => this.run(resolve));
  }

  pause(): void {
    this.#held ??= [];
  }

  /** Forgets what it holds back, as when the stopped process is killed. */
  discard(): void {
    this.#held = undefined;
  }

  resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const work of held) work();
  }
}
