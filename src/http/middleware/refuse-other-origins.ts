import { SwordError } from '../../sword/sword-error.ts';
import type { ServiceContext } from '../service-context.ts';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses a write that a page of another origin has a browser send: browsers add the credentials that a person gave for
 * the pages of deposits. They name where the page comes from; other clients send no such header. Old browsers, and all
 * that reach the service without TLS, name only the origin of a page with a form.
 * @param base origin of the URL under which clients know the service
 * @throws {SwordError} 403
 */
export function refuseOtherOrigins({ method, req: { headers } }: ServiceContext, base: string): void {
  if (READS.has(method)) return;
  const { 'sec-fetch-site': site, origin } = headers;
  const isOwn =
    site === undefined
      ? origin === undefined || origin === base || isOriginOf(origin, headers.host)
      : site === 'same-origin' || site === 'none';
  if (!isOwn) throw new SwordError('Forbidden', 'A page of another origin may not change anything here.');
}

/** Whether the `Origin` of a request is the host to which it was sent; `null`, of a page without an origin, is not. */
export function isOriginOf(origin: string | undefined, host: string | undefined): boolean {
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}
