import { setTimeout as pause } from 'node:timers/promises';
import type { RetryingDepositor } from '../../testing/http/retrying-depositor.ts';

/** Makes this number of deposits with several writers, each one after the other. Disposal stops them. */
export class RunOf implements Disposable {
  readonly #depositor: RetryingDepositor;
  readonly #deposits: number;
  #isOver = false;

  constructor(depositor: RetryingDepositor, deposits: number) {
    this.#depositor = depositor;
    this.#deposits = deposits;
  }

  /** Resolves when all are acknowledged. */
  async write(writers: number): Promise<void> {
    const turns = Array.from({ length: this.#deposits }, (_, turn) => turn).values(); // shared by the writers
    const writer = async (): Promise<void> => {
      for (const turn of turns) {
        if (this.#isOver) return;
        await this.#depositor.deposit(turn);
      }
    };
    await Promise.all(Array.from({ length: writers }, writer));
  }

  /** Resolves when this share of the deposits, from 0 to 1, is acknowledged. */
  async reached(share: number): Promise<void> {
    while (!this.#isOver && this.#depositor.acknowledged.size < this.#deposits * share) await pause(10);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
  }
}
