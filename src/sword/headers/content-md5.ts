import { checksumMismatch, quoted } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/**
 * Returns the promised MD5 as 32 lower-case hex digits, or `null`. Accepts hex in any case and base64. Each argument is
 * one spelling of the header.
 * @throws {SwordError} 412: it is malformed.
 */
export function parseContentMd5(...spellings: readonly RawHeader[]): string | null {
  const values = spellings.map(headerText).filter((value) => value !== undefined);
  const digests = new Set(values.map(digestOf));
  if (digests.size > 1) {
    throw checksumMismatch(`Content-MD5 was sent twice, with ${values.map(quoted).join(' and ')}.`);
  }
  const [digest = null] = digests;
  return digest;
}

function digestOf(value: string): string {
  if (/^[0-9a-f]{32}$/i.test(value)) return value.toLowerCase();
  if (/^[A-Za-z0-9+/]{22}(?:==)?$/.test(value)) return Buffer.from(value, 'base64').toString('hex');
  throw checksumMismatch(
    `Content-MD5 ${quoted(value)} is not an MD5: send 32 hex digits, or base64 of the 16 bytes.`,
  );
}
