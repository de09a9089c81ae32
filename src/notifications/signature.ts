import { createHmac } from 'node:crypto';
import { random } from '../tools/random.ts';

const PREFIX = 'whsec_';
/** Bytes of a secret; those of our own have the middle number. */
const [SHORTEST, OWN, LONGEST] = [24, 32, 64];

/** A new secret, as receivers write it: `whsec_` and base64. */
export function generateSecret(): string {
  return `${PREFIX}${random.bytes(OWN).toString('base64')}`;
}

/** Whether it is `whsec_` and 24 to 64 bytes in base64. */
export function isSecret(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false;
  const bytes = secretBytes(text);
  const again = bytes.toString('base64').replace(/=+$/, '');
  return (
    again === text.slice(PREFIX.length).replace(/=+$/, '') &&
    bytes.length >= SHORTEST &&
    bytes.length <= LONGEST
  );
}

/**
 * What the receiver compares, as the Standard Webhooks specification has it: HMAC-SHA-256 over id, time in whole
 * seconds since 1970 and body, with dots between them.
 */
export function signatureHeaders(
  secret: string,
  { id, body, seconds }: { readonly id: string; readonly body: string; readonly seconds: number },
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const signature = createHmac('sha256', secretBytes(secret))
    .update(`${id}.${seconds}.${body}`)
    .digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
}

function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}
