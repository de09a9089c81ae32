/** A value that a client wrote: the last one that the service acknowledged, and later ones that it did not answer. */
class Written {
  #acknowledged: string | undefined;
  #sent: string[] = [];

  send(value: string): void {
    this.#sent.push(value);
  }

  acknowledge(value: string): void {
    this.#acknowledged = value;
    this.#sent = [];
  }

  get isKnown(): boolean {
    return this.#acknowledged !== undefined;
  }

  /** Whether the service may have this: the last that it acknowledged, or a later one that it did not answer. */
  allows(value: string): boolean {
    return value === this.#acknowledged || this.#sent.includes(value);
  }
}

/** An acknowledged deposit, and what its client knows of it. */
export type WatchedDeposit = {
  readonly id: string;
  /** SHA-256 of its archive. */
  readonly archive: Written;
  readonly title: Written;
  /** Whether its completion was requested, and whether that was acknowledged. */
  final: 'no' | 'sent' | 'acknowledged';
};

/** The shared knowledge of all writers. */
export class Ledger {
  readonly deposits = new Map<string, WatchedDeposit>();
  /** SHA-256 of the unique content of each create that was sent, answered or not. */
  readonly creates = new Set<string>();
  /** Creates that were sent once and not answered. */
  readonly unansweredCreates = new Set<string>();
  /** Answers that must not be, a sentence each. */
  readonly faults: string[] = [];
  acknowledged = 0;
  unanswered = 0;
  /** Number of connections that ended without an answer, by error code. */
  readonly errors = new Map<string, number>();

  /** @throws never: an id that is given twice is a fault. */
  created(id: string): WatchedDeposit {
    if (this.deposits.has(id)) this.faults.push(`The id ${id} was given to two deposits.`);
    const deposit = { id, archive: new Written(), title: new Written(), final: 'no' } as WatchedDeposit;
    this.deposits.set(id, deposit);
    return deposit;
  }
}
