import { clock } from '../../tools/clock.ts';
import { Backoff } from '../../tools/concurrency/backoff.ts';
import { isTransient } from '../../tools/concurrency/transient-faults.ts';

const PAUSES = { firstPause: 10_000, longestPause: 600_000 };
/** Number of deposits above which the one that failed longest ago rests no more. */
const MAX_RESTING = 1000;

type Rest = { readonly client: string; readonly backoff: Backoff; readonly until: number };

/**
 * Deposits that failed on this node and probably will again, as at an event of a newer release. Each rests for a while,
 * longer after each failure, so that the permits of its client are left to others.
 */
export class RestingDeposits {
  readonly #rests = new Map<number, Rest>();

  /** Returns the deposits of the client that rest now. */
  of(client: string): ReadonlySet<number> {
    const now = clock.monotonic();
    const resting = this.#rests.entries().filter(([, rest]) => rest.client === client && rest.until > now);
    return new Set(resting.map(([depositId]) => depositId));
  }

  /** Begins a rest, unless the error may disappear without a change. */
  failed(client: string, depositId: number, error: unknown): void {
    if (isTransient(error)) return;
    const backoff = this.#rests.get(depositId)?.backoff ?? new Backoff(PAUSES);
    this.#rests.delete(depositId); // the map is in the order of the failures
    this.#rests.set(depositId, { client, backoff, until: clock.monotonic() + backoff.next() });
    const [oldest] = this.#rests.keys();
    if (this.#rests.size > MAX_RESTING && oldest !== undefined) this.#rests.delete(oldest);
  }

  succeeded(depositId: number): void {
    this.#rests.delete(depositId);
  }
}
