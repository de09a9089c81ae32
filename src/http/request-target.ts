import { badRequest } from '../sword/sword-error.ts';
import type { ServiceMiddleware } from './service-context.ts';

/**
 * What `node:http` leaves to its users of RFC 9112, section 3.2: a target in absolute form is reduced to its
 * path, since hosts mean nothing here; one that cannot be read, no Host in HTTP/1.1, or several, is a bad request.
 */
export function readTarget(): ServiceMiddleware {
  return ({ req }, next) => {
    const { length: hosts } = req.headersDistinct['host'] ?? [];
    if (req.httpVersion === '1.1' && hosts === 0) {
      throw badRequest('The request has no Host header, which HTTP/1.1 asks for.');
    }
    if (hosts > 1) throw badRequest(`The request has ${hosts} Host headers, but HTTP allows one.`);
    req.url = originForm(req.url ?? '');
    return next();
  };
}

function originForm(target: string): string {
  if (target.startsWith('/') || target === '*') return target;
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (!url?.pathname.startsWith('/')) throw badRequest('The target of the request is not a URL.');
  return url.pathname + url.search;
}
