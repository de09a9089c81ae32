import { isIPv4 } from 'node:net';

/** Whether a host, by name or address, is this machine. A name that merely begins like one may be another machine's. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
