/** Milliseconds since some fixed moment, never backwards. */
export type Clock = () => number;

const BURST = 20;
const PER_SECOND = 1;
const MAX_ADDRESSES = 10_000;

/** Counts failed logins by address: a bucket of tokens that fills again with time. */
export class LoginAttempts {
  readonly #now: Clock;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(now: Clock = () => performance.now()) {
    this.#now = now;
  }

  /** Seconds until the address may try again; 0 when it may now. */
  waitOf(address: string): number {
    const tokens = this.#tokens(address);
    return tokens >= 1 ? 0 : Math.ceil((1 - tokens) / PER_SECOND);
  }

  failed(address: string): void {
    const tokens = this.#tokens(address) - 1;
    this.#buckets.delete(address);
    this.#buckets.set(address, { tokens: Math.max(tokens, 0), at: this.#now() });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_ADDRESSES && oldest !== undefined) this.#buckets.delete(oldest);
  }

  #tokens(address: string): number {
    const bucket = this.#buckets.get(address);
    if (!bucket) return BURST;
    return Math.min(BURST, bucket.tokens + ((this.#now() - bucket.at) / 1000) * PER_SECOND);
  }
}
