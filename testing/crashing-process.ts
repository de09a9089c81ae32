import type { EventLog, ExpectedRevision, NewEvent, SubscribeOptions } from '../src/event-log/event-log.ts';
import { ForwardingEventLog } from '../src/event-log/forwarding-event-log.ts';

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
export class CrashingLog extends ForwardingEventLog {
  readonly #life: CrashingProcess;

  constructor(log: EventLog, life: CrashingProcess) {
    super(log);
    this.#life = life;
  }

  override async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) {
    await this.#life.step();
    const appended = await super.append(stream, expected, events);
    await this.#life.step();
    return appended;
  }

  override subscribe(options: SubscribeOptions = {}) {
    const signal = AbortSignal.any([this.#life.crashed, ...(options.signal ? [options.signal] : [])]);
    return super.subscribe({ ...options, signal });
  }
}
