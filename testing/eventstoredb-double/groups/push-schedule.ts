/** Runs a push soon after it is asked for, and only once for all that ask meanwhile. */
export class PushSchedule {
  readonly #push: () => void;
  readonly #delayMs: number | undefined;
  #isScheduled = false;

  /** Without a delay it is done as soon as the event loop allows. */
  constructor(push: () => void, delayMs: number | undefined) {
    this.#push = push;
    this.#delayMs = delayMs;
  }

  ask(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const push = () => {
      this.#isScheduled = false;
      this.#push();
    };
    if (this.#delayMs === undefined) setImmediate(push);
    else setTimeout(push, this.#delayMs).unref();
  }
}
