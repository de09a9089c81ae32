import { isIPv4 } from 'node:net';

/**
 * Whether a host name or address is this machine. A name that only begins like a loopback address may be another
 * machine.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
