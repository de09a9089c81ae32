import { isRead, type Operation, outcomeOf } from './operation.ts';

/** A deposit that several clients work on. */
export type SharedDeposit = {
  readonly id: number;
  /** The newest that an answer has shown. */
  revision: number;
  operations: number;
  unknown: number;
  /** Whether no request changes it further; its status still changes. */
  isClosed: boolean;
};

/** Operations on one deposit, and those without a known outcome among them: more would take the checker too long. */
const [MOST_OPERATIONS, MOST_UNKNOWN] = [60, 5];
/** Operations on a deposit that is completed or deleted. */
const MOST_AFTER_END = 12;
/** The number of deposits that are worked on at the same time. */
const OPEN_DEPOSITS = 5;

/** The deposits that clients know of, and those of them that they work on now. */
export class SharedDeposits {
  readonly #known = new Map<number, SharedDeposit>();
  #open: SharedDeposit[] = [];

  get ids(): readonly number[] {
    return [...this.#known.keys()];
  }

  get needsMore(): boolean {
    return this.#open.length < OPEN_DEPOSITS;
  }

  /** Returns one of the open deposits, the later ones more often. */
  pick(random: () => number): SharedDeposit | undefined {
    return this.#open[Math.floor(Math.sqrt(random()) * this.#open.length)];
  }

  /** Learns from the answer of an operation. */
  note(operation: Operation): void {
    const id = operation.deposit ?? operation.shown?.deposit;
    if (id === undefined) return;
    const deposit = this.#known.get(id) ?? this.#add(id);
    const outcome = outcomeOf(operation);
    const { revision, status } = operation.shown ?? {};
    deposit.operations += 1;
    deposit.revision = Math.max(deposit.revision, revision ?? 0);
    if (outcome === 'unknown' && !isRead(operation)) deposit.unknown += 1;
    const isEnded =
      (status !== undefined && status !== 'partial') || (outcome === 'refused' && operation.code !== 412);
    if (isEnded || (operation.kind === 'delete' && outcome === 'done')) this.#close(deposit);
    const isRetired = deposit.operations > MOST_OPERATIONS || deposit.unknown > MOST_UNKNOWN;
    if (isRetired) this.#open = this.#open.filter((open) => open !== deposit);
  }

  #add(id: number): SharedDeposit {
    const deposit = { id, revision: 0, operations: 0, unknown: 0, isClosed: false };
    this.#known.set(id, deposit);
    this.#open.push(deposit);
    return deposit;
  }

  #close(deposit: SharedDeposit): void {
    if (deposit.isClosed) return;
    deposit.isClosed = true;
    deposit.operations = Math.max(deposit.operations, MOST_OPERATIONS - MOST_AFTER_END);
  }
}
