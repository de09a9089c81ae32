import { hash } from 'node:crypto';
import type { ClientWrite, ReceivedContent } from '../client-write.ts';

type Requested = Pick<ClientWrite, 'method' | 'iriPath' | 'inProgress' | 'slug'>;

/**
 * Returns the digest of a request, which is recorded, then those by which earlier releases may have recorded the same
 * request. Each is equal for every repetition.
 */
export function requestFingerprints(
  write: Requested,
  content: ReceivedContent,
): readonly [string, ...string[]] {
  const { archive, entry } = content;
  // A request without content is a completion, whatever these headers are. Version 0.1.0 recorded neither.
  if (!archive && !entry)
    return [digestOf({ ...write, inProgress: null, slug: null }, content), digestOf(write, content)];
  // Version 0.1.0 recorded a compressed tar that was sent as a zip as a tar.
  const asTar = archive && { ...archive, mediaType: 'application/x-tar' };
  return [digestOf(write, content), digestOf(write, { archive: asTar, entry })];
}

/**
 * Returns the digest of method and IRI, `In-Progress`, `Slug` and content, independent of its encoding. A POST has no
 * method in it: stored requests are of POSTs before PUT had keys.
 */
function digestOf(
  { method, iriPath, inProgress, slug }: Requested,
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
