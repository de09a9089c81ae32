import { scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Credential } from '../../domain/client/client.ts';
import { errorsOfCode } from '../coded-error.ts';
import { random } from '../random.ts';

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

/** Cost parameters of scrypt. */
export type PasswordCost = Pick<Credential, 'N' | 'r' | 'p'>;

export const PASSWORD_COST: PasswordCost = { N: 2 ** 15, r: 8, p: 3 };
const DIGEST_BYTES = 32;
const MAX_PASSWORD_BYTES = 1024;

class BadPassword extends errorsOfCode('BAD_PASSWORD') {}

/** Hashes a password. @throws {BadPassword} not 1 to 1,024 bytes, with NUL, or decoded from invalid UTF-8. */
export async function credentialOf(password: string, cost = PASSWORD_COST): Promise<Credential> {
  const normalized = normalize(password);
  if (normalized === undefined) {
    if (!isExact(password)) throw new BadPassword('The password is not UTF-8: encode it as UTF-8.');
    const text = `A password has 1 to ${MAX_PASSWORD_BYTES} bytes, none of them NUL`;
    throw new BadPassword(`${text}; this one has ${Buffer.byteLength(password)} bytes.`);
  }
  const salt = random.bytes(16);
  const digest = await scryptOf(normalized, salt, cost);
  return {
    scheme: 'scrypt',
    ...cost,
    salt: salt.toString('base64'),
    digest: digest.toString('base64'),
  };
}

/** Resolves to whether the password matches, in constant time. */
export async function matches(password: string, credential: Credential): Promise<boolean> {
  const normalized = normalize(password);
  const digest = await scryptOf(normalized ?? '', Buffer.from(credential.salt, 'base64'), credential);
  const expected = Buffer.from(credential.digest, 'base64');
  return timingSafeEqual(digest, expected) && normalized !== undefined;
}

/** Whether the password was hashed at lower costs than the present ones. */
export function needsRehash({ N, r, p }: Credential, present: PasswordCost = PASSWORD_COST): boolean {
  return N * r * p < present.N * present.r * present.p;
}

/**
 * Returns a credential that unknown names are compared with, so that they are refused as slowly as a wrong password.
 */
export function dummyCredential({ N, r, p }: PasswordCost): Credential {
  const [salt, digest] = [random.bytes(16).toString('base64'), random.bytes(DIGEST_BYTES).toString('base64')];
  return { scheme: 'scrypt', N, r, p, salt, digest };
}

/** Returns a random password of 144 bits that can be typed. */
export function generatePassword(): string {
  return random.bytes(18).toString('base64url');
}

/**
 * Normalises a password, so that the same characters typed on another system are the same password. Returns `undefined`
 * if its length is out of range, if it is not exact, or if it has a NUL: scrypt ignores those at the end.
 */
function normalize(password: string): string | undefined {
  const normalized = password.normalize('NFC');
  const length = Buffer.byteLength(normalized);
  const isAccepted = length >= 1 && length <= MAX_PASSWORD_BYTES && !normalized.includes('\0');
  return isAccepted && isExact(password) ? normalized : undefined;
}

/** Whether the password is as its sender wrote it. Decoders replace every invalid byte by U+FFFD, so that all look alike. */
function isExact(password: string): boolean {
  return password.isWellFormed() && !password.includes('\uFFFD');
}

function scryptOf(password: string, salt: Buffer, { N, r, p }: PasswordCost): Promise<Buffer> {
  return derive(password, salt, DIGEST_BYTES, { N, r, p, maxmem: 64 * 1024 ** 2 });
}
