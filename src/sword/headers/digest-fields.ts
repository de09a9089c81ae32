import type { NumberedArchive } from '../../domain/deposit/archive-list.ts';
import { checksumMismatch, quoted, SwordError } from '../sword-error.ts';
import { headerText, type RawHeader } from './raw-header.ts';

/** Promised digests of bytes: lower-case hex digits; `null` if absent. */
export type Digests = { readonly sha256: string | null; readonly sha512: string | null };

type DigestField = 'Content-Digest' | 'Repr-Digest';

const BYTES = { 'sha-256': 32, 'sha-512': 64 } as const;

/**
 * Parses a `Content-Digest` or `Repr-Digest` (RFC 9530). Ignores unknown algorithms, as the RFC requires.
 * @throws {SwordError} 412: it is malformed.
 */
export function parseDigestField(name: DigestField, raw: RawHeader): Digests {
  const found = new Map<string, string>();
  for (const [algorithm, value] of membersOf(name, headerText(raw) ?? '')) {
    if (isKnown(algorithm)) found.set(algorithm, digestIn(name, algorithm, value));
  }
  return { sha256: found.get('sha-256') ?? null, sha512: found.get('sha-512') ?? null };
}

/** Merges the digests of two fields for the same bytes. @throws {SwordError} 412: they contradict each other. */
export function bothDigests(one: Digests, other: Digests): Digests {
  const agreed = (algorithm: keyof Digests): string | null => {
    const [a, b] = [one[algorithm], other[algorithm]];
    if (a === null || b === null || a === b) return a ?? b;
    throw checksumMismatch(`Two digests were promised for the same bytes, ${quoted(a)} and ${quoted(b)}.`);
  };
  return { sha256: agreed('sha256'), sha512: agreed('sha512') };
}

/** Returns the value of either field for stored bytes; MD5 only if a client sent it. */
export function digestField({ sha256, md5 }: Pick<NumberedArchive, 'sha256' | 'md5'>): string {
  const member = (algorithm: string, hex: string) =>
    `${algorithm}=:${Buffer.from(hex, 'hex').toString('base64')}:`;
  return [member('sha-256', sha256), ...(md5 === null ? [] : [member('md5', md5)])].join(', ');
}

/**
 * Pattern of one member of a dictionary (RFC 9651); the last of equal names wins. The lookahead makes a name match as a
 * whole: backtracking through all lengths of a long one would take seconds.
 */
const MEMBER = /[ \t]*([a-z*][a-z0-9_.*-]*)(?![a-z0-9_.*-])((?:"(?:[^"\\]|\\.)*"|[^",])*)(,|$)/iy;

function membersOf(name: DigestField, text: string): (readonly [algorithm: string, value: string])[] {
  const members: (readonly [string, string])[] = [];
  for (let position = 0; position < text.length; position = MEMBER.lastIndex) {
    MEMBER.lastIndex = position;
    const [, algorithm, value = '', end] = MEMBER.exec(text) ?? [];
    const goesOn = MEMBER.lastIndex < text.length;
    if (algorithm === undefined || goesOn !== (end === ',')) throw malformed(name, text.slice(position));
    members.push([algorithm.toLowerCase(), value.trim()]);
  }
  return members;
}

function digestIn(name: DigestField, algorithm: keyof typeof BYTES, value: string): string {
  const [, base64] = /^=:([A-Za-z0-9+/]+={0,2}):(?:;.*)?$/.exec(value) ?? [];
  const digest = Buffer.from(base64 ?? '', 'base64');
  if (digest.length !== BYTES[algorithm]) throw malformed(name, `${algorithm}${value}`);
  return digest.toString('hex');
}

function isKnown(algorithm: string): algorithm is keyof typeof BYTES {
  return Object.hasOwn(BYTES, algorithm);
}

function malformed(name: DigestField, text: string): SwordError {
  return checksumMismatch(
    `${name} is malformed at ${quoted(text)}: send sha-256=:<base64 of the 32 bytes>: or sha-512=:<base64 of the 64 bytes>:.`,
  );
}
