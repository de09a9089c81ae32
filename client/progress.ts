import { constants } from 'node:os';
import { clock } from '../src/tools/clock.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';
import type { Output } from './output.ts';

/** Milliseconds without a response after the last byte was sent, before a message says what the server does. */
const WAITING_NOTE_MS = 1000;

/** Ctrl-C, `kill`, and the end of the terminal. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Reports a transfer: numbered steps, progress bars and, on an interrupt, what is stored and how to resume. */
export class Progress implements Disposable {
  readonly #output: Output;
  readonly #steps: number;
  readonly bars = new ProgressBars();
  #step = 0;
  #outcome: () => string = () => 'Nothing was sent.';
  #waiting: NodeJS.Timeout | undefined;

  constructor(output: Output, steps: number) {
    this.#output = output;
    this.#steps = steps;
    for (const signal of SIGNALS) process.once(signal, this.#interrupt);
  }

  begin(text: string): void {
    this.#endBars();
    this.#step += 1;
    this.#output.note(`${this.#step}/${this.#steps} ${text}`);
  }

  /** Sets the message about what an interrupt from now on leaves behind. */
  leaves(outcome: () => string): void {
    this.#outcome = outcome;
  }

  /** Shows the bytes of a request; after the last one, that the server verifies them. */
  sent(what: string, bytes: number, total: number): void {
    this.bars.at(`MB sent${what}`, bytes, total);
    clock.clearTimeout(this.#waiting);
    if (bytes < total) return;
    this.#waiting = clock.setTimeout(() => {
      this.#endBars();
      this.#output.note('Everything is sent; waiting for the server to verify it.');
    }, WAITING_NOTE_MS);
    this.#waiting.unref();
  }

  [Symbol.dispose](): void {
    this.#endBars();
    for (const signal of SIGNALS) process.off(signal, this.#interrupt);
  }

  #endBars(): void {
    clock.clearTimeout(this.#waiting);
    this.bars.end();
  }

  readonly #interrupt = (signal: NodeJS.Signals): never => {
    this.#endBars();
    this.#output.note(`Interrupted. ${this.#outcome()}`);
    process.exit(128 + constants.signals[signal]); // as shells do
  };
}
