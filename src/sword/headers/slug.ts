import { badRequest, quoted } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

const MAX_LENGTH = 255; // in characters, not in units of UTF-16

/** Returns the text of a `Slug` (RFC 5023, 9.7), percent-decoded as UTF-8; `null` without the header. */
export function parseSlug(raw: RawHeader): string | null {
  const header = headerText(raw) ?? '';
  const slug = decodeUtf8(header).trim();
  if (slug === '') return null;
  // At the end of a URL they would name a parent.
  if (slug === '.' || slug === '..') throw badRequest(`The Slug ${quoted(header)} is not a name.`);
  if (/\p{Cc}/u.test(slug)) throw badRequest(`The Slug ${quoted(header)} holds a control character.`);
  const { length } = Array.from(slug);
  if (length > MAX_LENGTH)
    throw badRequest(`The Slug is ${length} characters long; at most ${MAX_LENGTH} are allowed.`);
  return slug;
}

/** Refuses a Slug that pages would show in another order than it has. Joiners and soft hyphens are part of words. */
export function refuseBidiControls(slug: string | null): void {
  if (slug === null || !/\p{Bidi_Control}/u.test(slug)) return;
  throw badRequest(`The Slug ${quoted(encodeURIComponent(slug))} holds a control of the direction of text.`);
}

/** Decodes percent-encoded UTF-8; unencoded bytes are read as UTF-8, too. */
function decodeUtf8(header: string): string {
  try {
    return decodeURIComponent(
      header.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`),
    );
  } catch (cause) {
    throw badRequest(`The Slug ${quoted(header)} is not percent-encoded UTF-8.`, { cause });
  }
}
