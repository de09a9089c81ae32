import { SwordError, shortened } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** Representations with a tag of their own: a document in a format, or a zip of several archives. */
const TAGGED = ['xml', 'json', 'html', 'rdf', 'zip'] as const;
export type Tagged = (typeof TAGGED)[number];

/** The end of a tag that names a representation. Older releases tagged lists of archives with `feed`. */
const REPRESENTATION = new RegExp(`-(?:${TAGGED.join('|')}|feed)$`);

/**
 * Returns the `ETag` of one representation of a deposit at one revision of its stream. Without a representation it is
 * the tag of an archive as it was sent, and of the deposit itself. The bytes of a zip differ each time, so its tag is
 * weak.
 */
export function entityTag(depositId: number, revision: number | bigint, representation?: Tagged): string {
  const tag = `"${depositId}-${revision}${representation ? `-${representation}` : ''}"`;
  return representation === 'zip' ? `W/${tag}` : tag;
}

/** Evaluates `If-Match`: refuses a request that was meant for another revision or object. The header is never required. */
export function assertMatches(ifMatch: RawHeader, current: string, what = 'deposit'): void {
  const wanted = headerText(ifMatch);
  if (wanted === undefined || includesTag(wanted, current, depositTag)) return;
  throw new SwordError(
    'ETagNotMatched',
    `The ${what} has changed since you read it: read it again, then repeat.`,
    { verboseDescription: `If-Match was ${shortened(wanted)}, the ${what} is at ${current}.` },
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
 * Returns whether the list contains the current tag. Weak tags, tags without quotes and tags with a coding, which
 * compressing proxies add, count as the tag of this service. Its tags contain no comma, so the list is split at commas.
 */
function includesTag(list: string, current: string, normalize = withoutCoding): boolean {
  if (list === '*') return true;
  return list.split(',').some((tag) => normalize(tag) === withoutCoding(current));
}

function withoutCoding(tag: string): string {
  return tag
    .trim()
    .replace(/^W\//, '')
    .replace(/^"(.*)"$/, '$1')
    .replace(/-(?:gzip|br|zstd|deflate)$/, '');
}

/** Returns the tag of the deposit for the tag of any of its representations, since a write concerns the deposit. */
function depositTag(tag: string): string {
  return withoutCoding(tag).replace(REPRESENTATION, '');
}
