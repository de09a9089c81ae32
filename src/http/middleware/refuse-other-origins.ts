import { SwordError } from '../../sword/sword-error.ts';
import type { ServiceContext } from '../service-context.ts';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses a write that a page of another origin has a browser send: browsers add the credentials that a person gave for
 * the pages of deposits. They name where the page comes from; other clients send no such header.
 * @throws {SwordError} 403
 */
export function refuseOtherOrigins({ method, req: { headers } }: ServiceContext): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none' || READS.has(method)) return;
  throw new SwordError('Forbidden', 'A page of another origin may not change anything here.');
}
