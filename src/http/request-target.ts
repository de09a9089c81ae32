import { badRequest, quoted } from '../sword/sword-error.ts';
import type { ServiceMiddleware } from './service-context.ts';

/**
 * What `node:http` leaves to its users of RFC 9112, section 3.2: a target in absolute form is reduced to its
 * path, since hosts mean nothing here; one that cannot be read, no Host in HTTP/1.1, several, or one that is none, is a
 * bad request.
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

/** As RFC 3986 writes it: a name, perhaps an empty one, or an address. */
export function isHost(value: string): boolean {
  return /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i.test(value);
}

function originForm(target: string): string {
  if (target.startsWith('/') || target === '*') return target;
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (!url?.pathname.startsWith('/')) throw badRequest('The target of the request is not a URL.');
  return url.pathname + url.search;
}
