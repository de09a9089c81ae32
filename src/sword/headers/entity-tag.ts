import { SwordError, shortened } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/**
 * Kind of a representation other than the archive itself: a zip of several, whose bytes differ each time, or a list.
 */
export type Made = 'zip' | 'feed';

/**
 * Returns the `ETag` of a deposit at one revision of its stream; representations derived from its archives have their
 * own.
 */
export function entityTag(depositId: number, revision: number | bigint, made?: Made): string {
  const tag = `"${depositId}-${revision}${made ? `-${made}` : ''}"`;
  return made ? `W/${tag}` : tag;
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

/** Evaluates `If-None-Match` of a read: returns whether the client has the current version, for 304. */
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

/** Returns the tag of the deposit for the tag of any of its representations, since a write concerns the deposit. */
function depositTag(tag: string): string {
  return normalizeTag(tag).replace(/-(?:zip|feed)$/, '');
}
