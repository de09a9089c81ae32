import { isIPv6 } from 'node:net';
import { clock } from '../../tools/clock.ts';

const BURST = 20;
const TOKENS_PER_SECOND = 1;
const MAX_ADDRESSES = 10_000;

/** Counts failed logins by address in a token bucket that refills over time. */
export class LoginAttempts {
  readonly #buckets = new Map<string, { tokens: number; at: number }>();
  /** Number of attempts in progress, by network. */
  readonly #inProgress = new Map<string, number>();

  /** Returns whether the address may try now; otherwise it may in a second. */
  mayTry(address: string): boolean {
    return this.#tokens(address) >= 1;
  }

  /** Returns whether one more attempt keeps the address within its limit, should all those in progress fail. */
  mayBegin(address: string): boolean {
    return this.#tokens(address) >= (this.#inProgress.get(networkOf(address)) ?? 0) + 1;
  }

  /** Starts an attempt, until {@link end}. Returns false if it may not begin. */
  begin(address: string): boolean {
    if (!this.mayBegin(address)) return false;
    const network = networkOf(address);
    this.#inProgress.set(network, (this.#inProgress.get(network) ?? 0) + 1);
    return true;
  }

  end(address: string): void {
    const network = networkOf(address);
    const left = (this.#inProgress.get(network) ?? 0) - 1;
    if (left > 0) this.#inProgress.set(network, left);
    else this.#inProgress.delete(network);
  }

  failed(address: string): void {
    const tokens = this.#tokens(address) - 1;
    const network = networkOf(address);
    this.#buckets.delete(network);
    this.#buckets.set(network, { tokens: Math.max(tokens, 0), at: clock.monotonic() });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_ADDRESSES && oldest !== undefined) this.#buckets.delete(oldest);
  }

  #tokens(address: string): number {
    const bucket = this.#buckets.get(networkOf(address));
    if (!bucket) return BURST;
    return Math.min(BURST, bucket.tokens + ((clock.monotonic() - bucket.at) / 1000) * TOKENS_PER_SECOND);
  }
}

/** Returns an address without the port, which some proxies add, so that each connection would look like another one. */
export function withoutPort(from: string): string {
  const [, bracketed, plain] = /^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/.exec(from) ?? [];
  return bracketed ?? plain ?? from;
}

/**
 * Returns the network that an address belongs to: the /64 of an IPv6 address, since one client usually has all of it.
 * An IPv4 address is its own network, also inside IPv6. A port, which some proxies add, is ignored.
 */
export function networkOf(from: string): string {
  const address = withoutPort(from);
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
