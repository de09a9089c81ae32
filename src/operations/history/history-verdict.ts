import type { Step } from './stream-history.ts';

/** Collects what is wrong with the events of a history. */
export class HistoryVerdict {
  readonly #name: string;
  readonly #broken: string[] = [];
  readonly #unknown: string[] = [];

  /** @param name of the subject, as in "Deposit 1" */
  constructor(name: string) {
    this.#name = name;
  }

  see({ stored, fault, unknown }: Step): void {
    if (fault !== undefined) this.miss(stored.revision);
    else if (unknown !== undefined) this.#unknown.push(`#${stored.revision}`);
  }

  /** Records that the event of this revision is missing, or is not the one that was appended. */
  miss(revision: number): void {
    this.#broken.push(`#${revision}`);
  }

  /** Whether every event is the one that was appended. */
  get fits(): boolean {
    return this.#broken.length === 0;
  }

  /** A sentence for each kind of problem. */
  get problems(): readonly string[] {
    const [broken, unknown] = [this.#broken.join(', '), this.#unknown.join(', ')];
    return [
      ...(broken === ''
        ? []
        : [
            `THE HISTORY OF ${this.#name.toUpperCase()} IS BROKEN at ${broken}: it is not what was appended.`,
          ]),
      ...(unknown === ''
        ? []
        : [`${this.#name} has events that this release does not know, at ${unknown}. Their hashes fit.`]),
    ];
  }
}
