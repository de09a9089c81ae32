import { BlockList, isIP } from 'node:net';

/**
 * IPv4 ranges of RFC 6890 and its successors that are not reachable over the Internet, including multicast and reserved
 * ones.
 */
const NOT_PUBLIC_4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local, including cloud metadata services
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
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
  ['3fff::', 20],
];

const notPublic = new BlockList();
for (const [net, prefix] of NOT_PUBLIC_4) notPublic.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of NOT_PUBLIC_6) notPublic.addSubnet(net, prefix, 'ipv6');
const global6 = new BlockList();
global6.addSubnet(...GLOBAL_6, 'ipv6');

/** Returns whether an address, in the notation of a resolver or a socket, is public on the Internet. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !notPublic.check(address, 'ipv4');
  if (version !== 6 || address.includes('%')) return false; // a zone makes it link-local
  return global6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}
