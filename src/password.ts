import { scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Credential } from './domain/client/client.ts';
import { random } from './tools/random.ts';

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

const COST = { N: 2 ** 15, r: 8, p: 3 } as const;
const DIGEST_BYTES = 32;
const MAX_PASSWORD_BYTES = 1024;

export class BadPassword extends Error {
  override readonly name = 'BadPassword';
  readonly code = 'BAD_PASSWORD';
}

/** @throws {BadPassword} not 1 to 1,024 bytes. */
export async function credentialOf(password: string): Promise<Credential> {
  const normalized = normalize(password);
  if (normalized === undefined) {
    const text = `A password has 1 to ${MAX_PASSWORD_BYTES} bytes; this one has ${Buffer.byteLength(password)}.`;
    throw new BadPassword(text);
  }
  const salt = random.bytes(16);
  const digest = await scryptOf(normalized, salt, COST);
  return { scheme: 'scrypt', ...COST, salt: salt.toString('base64'), digest: digest.toString('base64') };
}

/** Whether this is the password, found out in the same time whatever the answer. */
export async function matches(password: string, credential: Credential): Promise<boolean> {
  const normalized = normalize(password);
  const digest = await scryptOf(normalized ?? '', Buffer.from(credential.salt, 'base64'), credential);
  const expected = Buffer.from(credential.digest, 'base64');
  return timingSafeEqual(digest, expected) && normalized !== undefined;
}

/** Whether it was made when passwords were kept at lower costs than today. */
export function isCheap({ N, r, p }: Credential): boolean {
  return N * r * p < COST.N * COST.r * COST.p;
}

/** What a name nobody has is compared with, so that it answers as slowly as a wrong password. */
export const nobody: Credential = {
  scheme: 'scrypt',
  ...COST,
  salt: random.bytes(16).toString('base64'),
  digest: random.bytes(DIGEST_BYTES).toString('base64'),
};

/** 144 bits, typeable. */
export function generatePassword(): string {
  return random.bytes(18).toString('base64url');
}

/** The same characters typed on another system are the same password. */
function normalize(password: string): string | undefined {
  const normalized = password.normalize('NFC');
  const length = Buffer.byteLength(normalized);
  return length >= 1 && length <= MAX_PASSWORD_BYTES ? normalized : undefined;
}

function scryptOf(
  password: string,
  salt: Buffer,
  { N, r, p }: Pick<Credential, 'N' | 'r' | 'p'>,
): Promise<Buffer> {
  return derive(password, salt, DIGEST_BYTES, { N, r, p, maxmem: 64 * 1024 ** 2 });
}
