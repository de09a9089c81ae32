import { SwordError, shortened } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** A representation with a tag of its own: a document in a format, or a zip of several archives. */
export type Tagged = 'xml' | 'json' | 'html' | 'rdf' | 'zip';

/**
 * Returns the `ETag` of one representation of a deposit at one revision of its stream. Without a representation it is
 * the tag of an archive as it was sent, and of the deposit itself. The bytes of a zip differ each time, so its tag is
 * weak.
 */
export function entityTag(depositId: number, revision: number | bigint, of?: Tagged): string {
  const tag = `"${depositId}-${revision}${of ? `-${of}` : ''}"`;
  return of === 'zip' ? `W/${tag}` : tag;
}

/** Evaluates `If-Match`: refuses a write that was meant for another revision. The header is never required. */
export function assertMatches(ifMatch: RawHeader, current: string): void {
  const wanted = headerText(ifMatch);
  if (wanted === undefined || includesTag(wanted, current, depositTag)) return;
  throw new SwordError(
    'ETagNotMatched',
    'The deposit has changed since you read it: read it again, then repeat.',
    {
      verboseDescription: `If-Match was ${shortened(wanted)}, the deposit is at ${current}.`,
    },
  );
}

/** Evaluates `If-None-Match` of a write: refuses it if the current tag is listed; `*` matches any. */
export function assertNoneMatches(ifNoneMatch: RawHeader, current: string): void {
  const excluded = headerText(ifNoneMatch);
  if (excluded === undefined || !includesTag(excluded, current, depositTag)) return;
  throw new SwordError(
    'ETagNotMatched',
    'The deposit is one that If-None-Match excludes: repeat without it, or with If-Match.',
    { verboseDescription: `If-None-Match was ${shortened(excluded)}, the deposit is at ${current}.` },
  );
}

/** Evaluates `If-None-Match` of a read: returns whether the client has this representation, for 304. */
export function isNotModified(ifNoneMatch: RawHeader, current: string): boolean {
  const known = headerText(ifNoneMatch);
  return known !== undefined && includesTag(known, current);
}

/**
 * Returns whether the list contains the current tag. Weak tags and tags without quotes count as the strong one, since
 * the tags of this service contain no comma or quote. A suffix with a coding, which compressing proxies add, is
 * ignored.
 */
function includesTag(list: string, current: string, meant = normalizeTag): boolean {
  if (list === '*') return true;
  return list.split(',').some((tag) => meant(tag) === normalizeTag(current));
}

function normalizeTag(tag: string): string {
  return tag
    .trim()
    .replace(/^W\//, '')
    .replace(/^"(.*)"$/, '$1')
    .replace(/-(?:gzip|br|zstd|deflate)$/, '');
}

/**
 * Returns the tag of the deposit for the tag of any of its representations, since a write concerns the deposit. Older
 * releases tagged lists of archives with `feed`.
 */
function depositTag(tag: string): string {
  return normalizeTag(tag).replace(/-(?:xml|json|rdf|zip|feed)$/, '');
}
