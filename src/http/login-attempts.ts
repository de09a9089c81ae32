import { isIPv6 } from 'node:net';
import { clock } from '../tools/clock.ts';

/** Milliseconds since some fixed moment, never backwards. */
export type Clock = () => number;

const BURST = 20;
const PER_SECOND = 1;
const MAX_ADDRESSES = 10_000;

/** Counts failed logins by address: a bucket of tokens that fills again with time. */
export class LoginAttempts {
  readonly #now: Clock;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();
  /** Attempts of which nobody knows yet how they end, by network. */
  readonly #underWay = new Map<string, number>();

  constructor(now: Clock = () => clock.monotonic()) {
    this.#now = now;
  }

  /** Seconds until the address may try again; 0 when it may now. */
  waitOf(address: string): number {
    const tokens = this.#tokens(address);
    return tokens >= 1 ? 0 : Math.ceil((1 - tokens) / PER_SECOND);
  }

  /** Whether it may try once more now, even if all that it is trying fails; if so, until {@link end}. */
  begin(address: string): boolean {
    const network = networkOf(address);
    const underWay = this.#underWay.get(network) ?? 0;
    if (this.#tokens(address) < underWay + 1) return false;
    this.#underWay.set(network, underWay + 1);
    return true;
  }

  end(address: string): void {
    const network = networkOf(address);
    const left = (this.#underWay.get(network) ?? 0) - 1;
    if (left > 0) this.#underWay.set(network, left);
    else this.#underWay.delete(network);
  }

  failed(address: string): void {
    const tokens = this.#tokens(address) - 1;
    const network = networkOf(address);
    this.#buckets.delete(network);
    this.#buckets.set(network, { tokens: Math.max(tokens, 0), at: this.#now() });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_ADDRESSES && oldest !== undefined) this.#buckets.delete(oldest);
  }

  #tokens(address: string): number {
    const bucket = this.#buckets.get(networkOf(address));
    if (!bucket) return BURST;
    return Math.min(BURST, bucket.tokens + ((this.#now() - bucket.at) / 1000) * PER_SECOND);
  }
}

/**
 * Whoever has one address of IPv6 has all of its /64. An address of IPv4 stands for itself, also inside IPv6. Some proxies
 * add the port, of which everybody has thousands.
 */
export function networkOf(from: string): string {
  const [, bracketed, plain] = /^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/.exec(from) ?? [];
  const address = bracketed ?? plain ?? from;
  if (!isIPv6(address)) return address;
  const [, inside] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (inside !== undefined) return inside;
  const [before = '', after] = address.split('::');
  const left = before.split(':').filter((group) => group !== '');
  const right = after?.split(':') ?? [];
  const zeros = Array.from({ length: Math.max(8 - left.length - right.length, 0) }, () => '0');
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
