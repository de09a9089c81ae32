import { createHash, hash } from 'node:crypto';
import type { Digests } from '../../sword/headers/digest-fields.ts';
import { checksumMismatch } from '../../sword/sword-error.ts';

const NAMES = { sha256: 'SHA-256', sha512: 'SHA-512' } as const;
const ALGORITHMS = ['sha256', 'sha512'] as const;

/** Passes the bytes on; rejects at their end if they do not have the promised digests. @throws {SwordError} 412 */
export function verifyingBytes(
  body: AsyncIterable<Uint8Array>,
  promised: Digests,
): AsyncIterable<Uint8Array> {
  return ALGORITHMS.some((algorithm) => promised[algorithm] !== null)
    ? verifyWhilePassing(body, promised)
    : body;
}

/** Compares bytes in memory with the promised digests. @throws {SwordError} 412: they differ. */
export function assertDigests(bytes: Uint8Array, promised: Digests): void {
  for (const algorithm of ALGORITHMS) {
    if (promised[algorithm] !== null) assertDigest(algorithm, promised[algorithm], hash(algorithm, bytes));
  }
}

async function* verifyWhilePassing(
  body: AsyncIterable<Uint8Array>,
  promised: Digests,
): AsyncGenerator<Uint8Array> {
  const hashes = ALGORITHMS.flatMap((algorithm) => {
    const digest = promised[algorithm];
    return digest === null ? [] : [{ algorithm, digest, found: createHash(algorithm) }];
  });
  for await (const chunk of body) {
    for (const { found } of hashes) found.update(chunk);
    yield chunk;
  }
  for (const { algorithm, digest, found } of hashes) assertDigest(algorithm, digest, found.digest('hex'));
}

/** @throws {SwordError} 412: the digests differ. */
function assertDigest(algorithm: keyof Digests, promised: string, found: string): void {
  if (found === promised) return;
  const text = `The ${NAMES[algorithm]} promised is ${promised}, but the bytes received have ${found}.`;
  throw checksumMismatch(text);
}
