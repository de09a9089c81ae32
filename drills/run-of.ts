import { setTimeout as pause } from 'node:timers/promises';
import type { PatientDepositor } from '../test/support/patient-depositor.ts';

/** So many deposits, made one after the other by each of several writers; disposing breaks it off. */
export class RunOf implements Disposable {
  readonly #depositor: PatientDepositor;
  readonly #deposits: number;
  #isOver = false;

  constructor(depositor: PatientDepositor, deposits: number) {
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
