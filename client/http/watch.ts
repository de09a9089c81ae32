import { clock } from '../../src/tools/clock.ts';
/** Ends a try in which nothing has moved on for too long, whatever the server says meanwhile to be waited for. */
export class Watch implements Disposable {
  /** Milliseconds. */
  readonly limit: number;
  readonly #onFlow: (milliseconds: number) => void;
  readonly #timer: NodeJS.Timeout;
  #since = clock.monotonic();
  #watched: { destroy(error: Error): unknown } | undefined;

  /** `onFlow` is told for how long something was on its way that then arrived. */
  constructor(limit: number, onFlow: (milliseconds: number) => void) {
    this.limit = limit;
    this.#onFlow = onFlow;
    this.#timer = clock.setTimeout(() => this.#watched?.destroy(silence(limit)), limit);
  }

  /** What is ended when the time has come: this, and nothing that was named before. */
  over(watched: { destroy(error: Error): unknown }): void {
    this.#watched = watched;
  }

  /** A piece of an archive has gone its way. */
  movedOn(): void {
    const now = clock.monotonic();
    this.#onFlow(now - this.#since);
    this.#since = now;
    this.#timer.refresh();
  }

  [Symbol.dispose](): void {
    clock.clearTimeout(this.#timer);
  }
}

function silence(limit: number): Error {
  const seconds = Number((limit / 1000).toPrecision(3));
  return Object.assign(new Error(`no whole answer came within ${seconds} seconds`), { code: 'IDLE' });
}
