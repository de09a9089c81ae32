import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { errorsOfCode } from '../../tools/coded-error.ts';

/** Thrown when a webhook's address is not allowed. */
export class ReceiverRefused extends errorsOfCode('RECEIVER_REFUSED') {}

/** Whether webhooks may be in private networks and use plain http. */
export type ReceiverRules = { readonly allowPrivate: boolean };

/** Checks the rules that need no resolver; every connection checks them again. @throws {ReceiverRefused} */
export function assertMayBeReceiver({ protocol, hostname }: URL, { allowPrivate }: ReceiverRules): void {
  if (allowPrivate) return;
  if (protocol !== 'https:') {
    throw new ReceiverRefused('A webhook must be https, unless DEPOSIT_WEBHOOK_ALLOW_PRIVATE is true.');
  }
  // Sockets connect to an IP address without a lookup.
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublicAddress(address)) throw notPublic(hostname, address);
}

/** Checks a new webhook, including its DNS name. @throws {ReceiverRefused} */
export async function assertReachable(url: URL, rules: ReceiverRules): Promise<void> {
  assertMayBeReceiver(url, rules);
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return;
  try {
    await promisify(checkedLookup(rules))(url.hostname, { all: true });
  } catch (error) {
    if (error instanceof ReceiverRefused) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new ReceiverRefused(`The host ${url.hostname} cannot be resolved (${code}).`, { cause: error });
  }
}

/**
 * Returns a lookup for sockets that refuses names with any address in a private network. The socket connects to the
 * checked addresses, so a later change of the DNS name (rebinding) has no effect.
 */
export function checkedLookup({ allowPrivate }: ReceiverRules): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const refused = allowPrivate ? undefined : addresses.find(({ address }) => !isPublicAddress(address));
      if (refused) return callback(notPublic(hostname, refused.address), []);
      const [first] = addresses;
      if (options.all || !first) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function notPublic(hostname: string, address: string): ReceiverRefused {
  const place = hostname === address ? hostname : `${hostname} (${address})`;
  return new ReceiverRefused(`${place} is not in a public network, and notifications are sent only there.`);
}

/**
 * IPv4 ranges of RFC 6890 and its successors that are not reachable over the Internet, including multicast and reserved
 * ones, or that a nearby server answers.
 */
const NOT_PUBLIC_4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // Azure's host, from inside of its virtual machines
  ['169.254.0.0', 16], // link-local, including cloud metadata services
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // relays of multicast tunnels
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];

/** IPv6 global unicast, the only public range, apart from special ranges and embedded IPv4 addresses. */
const GLOBAL_6 = ['2000::', 3] as const;
const NOT_PUBLIC_6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // Teredo, ORCHID, benchmarks
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20],
];

const notPublicNets = new BlockList();
for (const [net, prefix] of NOT_PUBLIC_4) notPublicNets.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of NOT_PUBLIC_6) notPublicNets.addSubnet(net, prefix, 'ipv6');
const global6 = new BlockList();
global6.addSubnet(...GLOBAL_6, 'ipv6');

/** Returns whether an address, in the notation of a resolver or a socket, is public on the Internet. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !notPublicNets.check(address, 'ipv4');
  if (version !== 6 || address.includes('%')) return false; // a zone makes it link-local
  return global6.check(address, 'ipv6') && !notPublicNets.check(address, 'ipv6');
}
