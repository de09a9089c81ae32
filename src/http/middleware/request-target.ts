import { badRequest, quoted } from '../../sword/sword-error.ts';
import type { ServiceMiddleware } from '../service-context.ts';

/**
 * Validates the request target and Host (RFC 9112, section 3.2), which `node:http` leaves to its users. Reduces a
 * target in absolute form to its path, since hosts mean nothing here. Refuses an unreadable target, and in HTTP/1.1 a
 * missing, repeated or malformed Host.
 */
export function readTarget(): ServiceMiddleware {
  return ({ req }, next) => {
    const hosts = req.headersDistinct['host'] ?? [];
    if (req.httpVersion === '1.1' && hosts.length === 0) {
      throw badRequest('The request has no Host header, which HTTP/1.1 asks for.');
    }
    if (hosts.length > 1)
      throw badRequest(`The request has ${hosts.length} Host headers, but HTTP allows one.`);
    if (!hosts.every(isHost))
      throw badRequest(
        `The Host header has ${quoted(hosts.join())}, which is no host with a port or without.`,
      );
    req.url = originForm(req.url ?? '');
    return next();
  };
}

/** Returns whether the value is a host in the syntax of RFC 3986: a name, possibly empty, or an address. */
export function isHost(value: string): boolean {
  return /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i.test(value);
}

function originForm(target: string): string {
  if (target.startsWith('/') || target === '*') return target;
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (!url?.pathname.startsWith('/')) throw badRequest('The target of the request is not a URL.');
  return url.pathname + url.search;
}
