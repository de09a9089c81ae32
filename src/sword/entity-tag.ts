import { headerText, type RawHeader } from './raw-header.ts';
import { SwordError, shortened } from './sword-error.ts';

/** The `ETag` of everything shown of a deposit at one revision of its stream. */
export function entityTag(depositId: number, revision: number | bigint): string {
  return `"${depositId}-${revision}"`;
}

/** `If-Match`: refuses a write that was meant for another revision. Never required. */
export function assertMatches(ifMatch: RawHeader, current: string): void {
  const wanted = headerText(ifMatch);
  if (wanted === undefined || names(wanted, current)) return;
  throw new SwordError(
    'ETagNotMatched',
    'The deposit has changed since you read it: read it again, then repeat.',
    {
      verboseDescription: `If-Match was ${shortened(wanted)}, the deposit is at ${current}.`,
    },
  );
}

/** `If-None-Match` of a write: refuses it while there is what it names; `*` is anything at all. */
export function assertNoneMatches(ifNoneMatch: RawHeader, current: string): void {
  const excluded = headerText(ifNoneMatch);
  if (excluded === undefined || !names(excluded, current)) return;
  throw new SwordError(
    'ETagNotMatched',
    'The deposit is one that If-None-Match excludes: repeat without it, or with If-Match.',
    { verboseDescription: `If-None-Match was ${shortened(excluded)}, the deposit is at ${current}.` },
  );
}

/** `If-None-Match`: whether the client holds what it asks for already, so that 304 is the answer. */
export function isNotModified(ifNoneMatch: RawHeader, current: string): boolean {
  const held = headerText(ifNoneMatch);
  return held !== undefined && names(held, current);
}

/**
 * Weak tags and tags without their quotes are taken for the strong one, since ours hold no comma or quote; so are those
 * to which a proxy that compresses has added the name of the coding, since none of ours ends in one.
 */
function names(list: string, current: string): boolean {
  if (list === '*') return true;
  const bare = current.replaceAll('"', '');
  return list.split(',').some(
    (tag) =>
      tag
        .trim()
        .replace(/^W\//, '')
        .replace(/^"(.*)"$/, '$1')
        .replace(/-(?:gzip|br|zstd|deflate)$/, '') === bare,
  );
}
