import { SwordError, shortened } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** What an archive is not: a zip of several, whose bytes are others each time, or a list of them. */
export type Made = 'zip' | 'feed';

/** The `ETag` of everything shown of a deposit at one revision of its stream; what is made of its archives has its own. */
export function entityTag(depositId: number, revision: number | bigint, made?: Made): string {
  const tag = `"${depositId}-${revision}${made ? `-${made}` : ''}"`;
  return made ? `W/${tag}` : tag;
}

/** `If-Match`: refuses a write that was meant for another revision. Never required. */
export function assertMatches(ifMatch: RawHeader, current: string): void {
  const wanted = headerText(ifMatch);
  if (wanted === undefined || names(wanted, current, ofDeposit)) return;
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
  if (excluded === undefined || !names(excluded, current, ofDeposit)) return;
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
function names(list: string, current: string, meant = bare): boolean {
  if (list === '*') return true;
  return list.split(',').some((tag) => meant(tag) === bare(current));
}

function bare(tag: string): string {
  return tag
    .trim()
    .replace(/^W\//, '')
    .replace(/^"(.*)"$/, '$1')
    .replace(/-(?:gzip|br|zstd|deflate)$/, '');
}

/** A write is about the deposit, whichever of its representations the client has read. */
function ofDeposit(tag: string): string {
  return bare(tag).replace(/-(?:zip|feed)$/, '');
}
