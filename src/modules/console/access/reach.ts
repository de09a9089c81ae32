import type { IncomingMessage } from 'node:http';
import type { Config } from '../../../config/config.ts';
import { isLoopback } from '../../../config/loopback.ts';

/** Headers by which a proxy names itself or its client. */
const OF_PROXIES = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

export function isConsolePath(path: string): boolean {
  return path === '/console' || path.startsWith('/console/');
}

/** Returns whether no request can reach the console: one for this machine alone answers none that comes by a proxy. */
export function isUnreachable({ console, trustProxy }: Pick<Config, 'console' | 'trustProxy'>): boolean {
  return console === 'off' || (console === 'loopback' && trustProxy);
}

/**
 * Returns whether the console answers this request. For `loopback`, it must come from this machine without a proxy. It
 * must also name this machine as its host: a page whose name resolves to a loopback address names another.
 */
export function mayReach(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  config: Pick<Config, 'console' | 'trustProxy'>,
): boolean {
  if (isUnreachable(config)) return false;
  if (config.console === 'public') return true;
  const peer = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  const host = (headers.host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  const isDirect = OF_PROXIES.every((name) => headers[name] === undefined);
  return isDirect && isLoopback(peer) && isLoopback(host.toLowerCase());
}
