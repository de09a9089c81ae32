/** A value that a client wrote: what the service told that it has, and what was sent since without an answer. */
export class Written {
  #told: string | undefined;
  #sent: string[] = [];

  send(value: string): void {
    this.#sent.push(value);
  }

  tell(value: string): void {
    this.#told = value;
    this.#sent = [];
  }

  get isKnown(): boolean {
    return this.#told !== undefined;
  }

  /** Whether the service may have this: the last that it acknowledged, or a later one that it did not answer. */
  allows(value: string): boolean {
    return value === this.#told || this.#sent.includes(value);
  }
}

/** A deposit that was acknowledged, and what its client knows of it. */
export type WatchedDeposit = {
  readonly id: string;
  /** SHA-256 of its archive. */
  readonly archive: Written;
  readonly title: Written;
  /** Whether its completion was asked for, and whether that was acknowledged. */
  final: 'no' | 'sent' | 'told';
};

/** What all writers know. */
export class Ledger {
  readonly deposits = new Map<string, WatchedDeposit>();
  /** SHA-256 of what made each create that was sent, answered or not, the only one of its kind. */
  readonly creates = new Set<string>();
  /** Those of them that were sent once and not answered. */
  readonly unansweredCreates = new Set<string>();
  /** What must never be answered, a sentence each. */
  readonly faults: string[] = [];
  acknowledged = 0;
  unanswered = 0;
  /** How often connections ended without an answer, by the code of the error. */
  readonly errors = new Map<string, number>();

  /** @throws never: an id that is given twice is a fault. */
  created(id: string): WatchedDeposit {
    if (this.deposits.has(id)) this.faults.push(`The id ${id} was given to two deposits.`);
    const deposit = { id, archive: new Written(), title: new Written(), final: 'no' } as WatchedDeposit;
    this.deposits.set(id, deposit);
    return deposit;
  }
}
