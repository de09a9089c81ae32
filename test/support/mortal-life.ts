import type {
  EventLog,
  ExpectedRevision,
  NewEvent,
  SubscribeOptions,
} from '../../src/event-log/event-log.ts';
import { ForwardingEventLog } from '../../src/event-log/forwarding-event-log.ts';

/** One life of a process that may die between any two of its steps: from then on nothing of it goes on. */
export class MortalLife {
  readonly #death = new AbortController();
  readonly #onDeath: () => void;
  #left: number;

  /** It dies at so many steps. `onDeath` is called in the middle of it. */
  constructor(steps: number, onDeath: () => void) {
    this.#left = steps;
    this.#onDeath = onDeath;
  }

  get death(): AbortSignal {
    return this.#death.signal;
  }

  /** Never resolves for the dead. */
  async step(): Promise<void> {
    this.#left -= 1;
    if (this.#left === 0) this.die();
    if (this.death.aborted) await new Promise(() => undefined);
  }

  die(): void {
    if (this.death.aborted) return;
    this.#onDeath();
    this.#death.abort();
  }
}

/** A log as a mortal process has it: before and after each append it may die. */
export class MortalLog extends ForwardingEventLog {
  readonly #life: MortalLife;

  constructor(log: EventLog, life: MortalLife) {
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
    const signal = AbortSignal.any([this.#life.death, ...(options.signal ? [options.signal] : [])]);
    return super.subscribe({ ...options, signal });
  }
}
