import { badRequest, quoted } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** Returns the key that identifies repetitions of a POST; `null` without the header. */
export function parseIdempotencyKey(raw: RawHeader): string | null {
  const key = headerText(raw);
  if (key === undefined) return null;
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw badRequest(`Idempotency-Key must be 1 to 255 characters of printable ASCII, not ${quoted(key)}.`);
}
