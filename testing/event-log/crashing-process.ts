import type { EventLog } from '../../src/event-log/event-log.ts';
import { observed } from '../../src/tools/observed.ts';

/** One life of a process that may crash between any two of its steps: from then on its work does not continue. */
export class CrashingProcess {
  readonly #crash = new AbortController();
  readonly #onCrash: () => void;
  #left: number;

  /** It crashes after this number of steps. `onCrash` is called at that moment. */
  constructor(steps: number, onCrash: () => void) {
    this.#left = steps;
    this.#onCrash = onCrash;
  }

  get crashed(): AbortSignal {
    return this.#crash.signal;
  }

  /** Never resolves after the crash. */
  async step(): Promise<void> {
    this.#left -= 1;
    if (this.#left === 0) this.crash();
    if (this.crashed.aborted) await new Promise(() => undefined);
  }

  crash(): void {
    if (this.crashed.aborted) return;
    this.#onCrash();
    this.#crash.abort();
  }
}

/** A log of such a process: it may crash before and after each append. */
export function crashingLog(log: EventLog, life: CrashingProcess): EventLog {
  return observed(log, {
    append: async (append, ...args) => {
      await life.step();
      const appended = await append(...args);
      await life.step();
      return appended;
    },
    subscribe: (subscribe, options = {}) => {
      const signal = AbortSignal.any([life.crashed, ...(options.signal ? [options.signal] : [])]);
      return subscribe({ ...options, signal });
    },
  });
}
