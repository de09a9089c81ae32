import { createCipheriv, createDecipheriv } from 'node:crypto';
import { random } from '../random.ts';

const CIPHER = 'aes-256-gcm';
export const KEY_BYTES = 32;
const [IV_BYTES, TAG_BYTES] = [12, 16];

/** A text sealed by AES-256-GCM, under an initialization vector of its own. */
type Sealed = { readonly iv: Buffer; readonly ciphertext: Buffer; readonly tag: Buffer };

/** Seals a text. It opens only with the same key and context. */
export function seal(text: string, key: Buffer, context: string): Sealed {
  const iv = random.bytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return { iv, ciphertext, tag: cipher.getAuthTag() };
}

/** Returns a sealed text. @throws {Error} it was not sealed with this key and context */
export function unseal({ iv, ciphertext, tag }: Sealed, key: Buffer, context: string): string {
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(tag);
  return decipher.update(ciphertext, undefined, 'utf8') + decipher.final('utf8');
}

/** Seals a text into a token for URLs and cookies: another one at each call, so that equal texts are not recognized. */
export function sealToken(text: string, key: Buffer, context = ''): string {
  const { iv, ciphertext, tag } = seal(text, key, context);
  return Buffer.concat([iv, ciphertext, tag]).toString('base64url');
}

/** Returns the text in a token; `undefined` for a token that was not sealed with this key and context. */
export function openToken(token: string, key: Buffer, context = ''): string | undefined {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length <= IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== token) return undefined;
  const [iv, ciphertext] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, -TAG_BYTES)];
  try {
    return unseal({ iv, ciphertext, tag: bytes.subarray(-TAG_BYTES) }, key, context);
  } catch {
    return undefined;
  }
}
