import { badRequest, quoted, type SwordError } from '../../sword/sword-error.ts';
import type { ServiceMiddleware } from '../service-context.ts';

/** Maximum characters of a request target, which are ASCII. */
export const MAX_TARGET_LENGTH = 8192;
/** Methods that some resource has. */
const ALLOW = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/**
 * Validates the request target and Host (RFC 9112, section 3.2), which `node:http` leaves to its users. Reduces a
 * target in absolute form to its path, since hosts mean nothing here. Refuses an unreadable target, and in HTTP/1.1 a
 * missing, repeated or malformed Host.
 */
export function readTarget(): ServiceMiddleware {
  return (ctx, next) => {
    const { req } = ctx;
    if (req.httpVersionMajor !== 1) {
      ctx.set('Connection', 'close');
      throw httpVersionNotSupported();
    }
    if ((req.url ?? '').length > MAX_TARGET_LENGTH) throw targetTooLong();
    const hosts = req.headersDistinct['host'] ?? [];
    if (req.httpVersion === '1.1' && hosts.length === 0) {
      throw badRequest('The request has no Host header, which HTTP/1.1 asks for.');
    }
    if (hosts.length > 1)
      throw badRequest(`The request has ${hosts.length} Host headers, but HTTP allows one.`);
    if (!hosts.every(isHost))
      throw badRequest(
        `The Host header has ${quoted(hosts.join())}, which is not a host with or without a port.`,
      );
    const logins = req.headersDistinct['authorization'] ?? [];
    if (logins.length > 1)
      throw badRequest(`The request has ${logins.length} Authorization headers: send one.`);
    req.url = withoutNeedlessEscapes(originForm(req.url ?? ''));
    if (req.url !== '*' || req.method !== 'OPTIONS') return next();
    ctx.set('Allow', ALLOW);
    ctx.status = 204;
    return undefined;
  };
}

export function httpVersionNotSupported(): SwordError {
  return badRequest('The request is not in HTTP/1.1 or HTTP/1.0.', { status: 505 });
}

export function targetTooLong(): SwordError {
  return badRequest(`The target of the request exceeds ${MAX_TARGET_LENGTH} characters.`, { status: 414 });
}

/**
 * Returns the target with unreserved characters of its path as they are: they mean the same percent-encoded (RFC 3986,
 * section 6.2.2.2).
 */
function withoutNeedlessEscapes(target: string): string {
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  if (!path.includes('%')) return target;
  const decoded = path.replace(/%(?:2[DE]|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/gi, decodeURIComponent);
  return `${decoded}${target.slice(path.length)}`;
}

/** Returns whether the value is a host in the syntax of RFC 3986: a name, possibly empty, or an address. */
export function isHost(value: string): boolean {
  return /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i.test(value);
}

function originForm(target: string): string {
  if (target.startsWith('/') || target === '*') return target;
  const url = URL.parse(target);
  if (!url?.pathname.startsWith('/')) throw badRequest('The target of the request is not a URL.');
  return url.pathname + url.search;
}
