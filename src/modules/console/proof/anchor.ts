import { canonicalJson, without } from './canonical-json.ts';
import { bytesOf, sha256 } from './digests.ts';
import type { SignedAnchor } from './evidence.ts';

/** Returns whether the anchor is signed with the key that it names. */
export async function isSignedByItsKey(anchor: SignedAnchor): Promise<boolean> {
  const algorithm = { name: 'Ed25519' };
  const key = await crypto.subtle.importKey(
    'spki',
    Uint8Array.fromBase64(anchor.publicKey),
    algorithm,
    false,
    ['verify'],
  );
  const statement = bytesOf(canonicalJson(without('signature', anchor)));
  return crypto.subtle.verify(algorithm, key, Uint8Array.fromBase64(anchor.signature), statement);
}

/** Resolves to the digest by which the next anchor names this one. */
export function anchorDigest(anchor: SignedAnchor): Promise<string> {
  return sha256(canonicalJson(anchor));
}

/** Returns the fingerprint of a public key: SHA-256 of its DER. */
export function fingerprint(publicKey: string): Promise<string> {
  return sha256(Uint8Array.fromBase64(publicKey));
}

/** Returns the public keys in a text of PEM blocks, as base64 of their DER. */
export function publicKeysIn(pem: string): string[] {
  const blocks = pem.matchAll(/-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----/g);
  return [...blocks].map(([, base64 = '']) => base64.replaceAll(/\s/g, ''));
}
