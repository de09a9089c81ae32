import { createHmac } from 'node:crypto';
import { random } from '../../tools/random.ts';

const PREFIX = 'whsec_';
/** Bytes of a secret: minimum, of generated ones, and maximum. */
const [MIN_BYTES, GENERATED_BYTES, MAX_BYTES] = [24, 32, 64];

/** Returns a new secret in the notation of receivers: `whsec_` and base64. */
export function generateSecret(): string {
  return `${PREFIX}${random.bytes(GENERATED_BYTES).toString('base64')}`;
}

/** Returns whether the text is `whsec_` and 24 to 64 bytes in base64. */
export function isSecret(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false;
  const bytes = secretBytes(text);
  const canonical = bytes.toString('base64').replace(/=+$/, '');
  return (
    canonical === text.slice(PREFIX.length).replace(/=+$/, '') &&
    bytes.length >= MIN_BYTES &&
    bytes.length <= MAX_BYTES
  );
}

/**
 * Returns the signature headers of the Standard Webhooks specification: HMAC-SHA-256 over id, time in whole seconds
 * since 1970 and body, joined by dots.
 */
export function signatureHeaders(
  secret: string,
  { id, body, seconds }: { readonly id: string; readonly body: string; readonly seconds: number },
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const signature = createHmac('sha256', secretBytes(secret))
    .update(`${id}.${seconds}.${body}`)
    .digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
}

function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}
