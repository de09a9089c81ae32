import { hash } from 'node:crypto';
import type { ClientWrite, ReceivedContent } from '../client-write.ts';

/**
 * Returns the digest of a request: of its method and IRI, `In-Progress`, `Slug` and content, independent of its encoding.
 * It is equal for every repetition. A POST has no method in it: stored requests are of POSTs before PUT had keys.
 */
export function requestFingerprint(
  { method, iriPath, inProgress, slug }: Pick<ClientWrite, 'method' | 'iriPath' | 'inProgress' | 'slug'>,
  { archive, entry }: ReceivedContent,
): string {
  const requested = [
    method === 'POST' ? iriPath : `${method} ${iriPath}`,
    inProgress,
    slug,
    archive && [archive.sha256, archive.filename, archive.mediaType],
    entry && entry.sha256,
  ];
  return hash('sha256', JSON.stringify(requested));
}

/** Normalizes the path of an IRI, so that every resource has one: `…/atom/` and `…/metadata/` of a deposit are the same. */
export function normalizePath(path: string): string {
  return decodeURIComponent(path)
    .replace(/\/$/, '')
    .replace(/^(\/1\/[^/]+\/[^/]+)\/atom$/, '$1/metadata');
}
