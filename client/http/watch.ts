import { clock } from '../../src/tools/clock.ts';
/** Ends an attempt without progress for too long, regardless of interim responses. */
export class Watch implements Disposable {
  /** Milliseconds. */
  readonly limit: number;
  readonly #onFlow: (milliseconds: number) => void;
  readonly #timer: NodeJS.Timeout;
  #since = clock.monotonic();
  #watched: { destroy(error: Error): unknown } | undefined;

  /** `onFlow` gets the duration of each transfer that made progress. */
  constructor(limit: number, onFlow: (milliseconds: number) => void) {
    this.limit = limit;
    this.#onFlow = onFlow;
    this.#timer = clock.setTimeout(() => this.#watched?.destroy(idleError(limit)), limit);
  }

  /** Sets what the timeout destroys, in place of what was set before. */
  setTarget(watched: { destroy(error: Error): unknown }): void {
    this.#watched = watched;
  }

  /** Records progress: a chunk of an archive was transferred. */
  progressed(): void {
    const now = clock.monotonic();
    this.#onFlow(now - this.#since);
    this.#since = now;
    this.#timer.refresh();
  }

  [Symbol.dispose](): void {
    clock.clearTimeout(this.#timer);
  }
}

function idleError(limit: number): Error {
  const seconds = Number((limit / 1000).toPrecision(3));
  return Object.assign(new Error(`no complete response within ${seconds} seconds`), { code: 'IDLE' });
}
