import { DepositRefusal } from '../errors.ts';
import type { EntryFacts, MetadataEntry } from '../events.ts';
import { jsonBytes, QUOTES } from '../limits.ts';

/** Refuses an entry that names an origin outside the provider URL of its client, or too long a one. */
export function assertOriginAllowed(
  { origin }: Pick<EntryFacts, 'origin'>,
  providerUrl: string | null,
): void {
  if (!origin) return;
  if (isOriginTooLong(origin.url)) {
    const escaped = `or than ${MAX_ESCAPED_ORIGIN_BYTES} with % and ; escaped as in a SWHID`;
    throw new DepositRefusal(
      'ORIGIN_TOO_LONG',
      `The origin URL of the entry is longer than ${MAX_ORIGIN_BYTES} bytes, ${escaped}.`,
    );
  }
  if (providerUrl === null) {
    throw new DepositRefusal(
      'ORIGIN_OUTSIDE_PROVIDER',
      `The entry names the origin ${origin.url}, but this client has no provider URL under which it may name origins.`,
    );
  }
  if (isBelow(origin.url, providerUrl)) return;
  throw new DepositRefusal(
    'ORIGIN_OUTSIDE_PROVIDER',
    UNENCODED.test(origin.url)
      ? `The origin ${origin.url} contains a blank, a backslash, a control or an invisible character: percent-encode it.`
      : `The origin ${origin.url} is not below the provider URL ${providerUrl} of this client.`,
  );
}

/** Refuses an entry, added to a deposit that is done, that names an origin other than that of the deposit. */
export function assertOwnOrigin({ origin }: Pick<EntryFacts, 'origin'>, ownOrigin: string | null): void {
  if (!origin || origin.url === ownOrigin) return;
  const own = ownOrigin === null ? 'has none, since it has no software' : `is from ${ownOrigin}`;
  throw new DepositRefusal(
    'ORIGIN_MISMATCH',
    `The entry names the origin ${origin.url}, but the deposit ${own}: omit the origin.`,
  );
}

/** Characters about which programs differ, and invisible ones, with which a URL looks like another. */
const UNENCODED = /[\s\\\p{Cc}\p{Cf}]/u;

/** Refuses an entry without software whose provenance is outside the provider URL of its client. */
export function assertProvenanceAllowed(
  { provenance }: Pick<EntryFacts, 'provenance'>,
  providerUrl: string | null,
): void {
  if (!provenance || (providerUrl !== null && isBelow(provenance, providerUrl))) return;
  const rule =
    providerUrl === null
      ? 'has no provider URL'
      : `vouches only for what is below its provider URL ${providerUrl}`;
  throw new DepositRefusal(
    'PROVENANCE_OUTSIDE_PROVIDER',
    `The provenance of the metadata is ${provenance}, but this client ${rule}.`,
  );
}

/** Maximum bytes of an origin, and of the same in a SWHID, which escapes `%` and `;`. References to it must fit, too. */
export const MAX_ORIGIN_BYTES = 1_024;
const MAX_ESCAPED_ORIGIN_BYTES = 1_800;

export function isOriginTooLong(url: string): boolean {
  const bytes = jsonBytes(url) - QUOTES;
  const escapes = url.match(/[%;]/g)?.length ?? 0;
  return bytes > MAX_ORIGIN_BYTES || bytes + 2 * escapes > MAX_ESCAPED_ORIGIN_BYTES;
}

/** Returns the origin of a deposit whose metadata name none: below the provider URL, by its slug or else its UUID. */
export function originBelow(providerUrl: string, name: string): string {
  return `${providerUrl}/${encodeURIComponent(name)}`;
}

/** Returns the origin to which the entry adds a version: that of a deposit of this client that is done. */
export function originAddedTo({ origin }: Pick<EntryFacts, 'origin'>): string | null {
  return origin?.relation === 'add' ? origin.url : null;
}

export function unknownOrigin(url: string): DepositRefusal {
  return new DepositRefusal(
    'ORIGIN_UNKNOWN',
    `Nothing can be added to the origin ${url}: this client has no deposit from there that is done. Send create_origin, or wait until the first deposit is done.`,
  );
}

/** Returns the origin of a deposit: the first that an entry names, else the one assigned at its creation. */
export function originOf(entries: readonly MetadataEntry[], fallbackOrigin: string): string {
  return entries.find(({ facts }) => facts.origin)?.facts.origin?.url ?? fallbackOrigin;
}

/**
 * Whether a URL is below the provider URL, both as text and as parsed: programs differ about backslashes, blanks and
 * `..`. Whole path segments are compared, so that `https://a.example/x` is not below `https://a.example/xy`.
 */
function isBelow(url: string, provider: string): boolean {
  return isTextBelow(url, provider) && isParsedBelow(url, provider);
}

function isTextBelow(url: string, provider: string): boolean {
  if (UNENCODED.test(url)) return false;
  const [inner, outer] = [withHostInLowerCase(url), withHostInLowerCase(provider)];
  return inner.startsWith(outer) && /^(?:[/?#]|$)/.test(inner.slice(outer.length));
}

function withHostInLowerCase(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]+/i, (start) => start.toLowerCase());
}

function isParsedBelow(url: string, provider: string): boolean {
  const [inner, outer] = [URL.parse(url), URL.parse(provider)];
  if (!inner || !outer || inner.origin !== outer.origin) return false;
  const folder = outer.pathname.endsWith('/') ? outer.pathname : `${outer.pathname}/`;
  return inner.pathname === outer.pathname || inner.pathname.startsWith(folder);
}
