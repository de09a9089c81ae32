import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import type { JsonObject } from '../../event-log/event-log.ts';
import { canonicalJson } from '../../event-log/integrity/hash-chain.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { isSha256 } from '../../tools/cryptography/is-sha256.ts';
import { parseJson } from '../../tools/parse-json.ts';

/** Stream of the log that contains the anchors. */
export const ANCHORS = 'anchors';

/** A signed statement about the first `events` events of a log, in global order, including anchors. */
export type Anchor = AnchorStatement & {
  /** Ed25519, base64, over the statement as canonical JSON. */
  readonly signature: string;
};

export type AnchorStatement = {
  /** Version of this format. */
  readonly anchor: 1;
  readonly events: number;
  /** Root of their Merkle tree, 64 hex digits. */
  readonly root: string;
  /** SHA-256 of the previous anchor; `null` in the first. */
  readonly previous: string | null;
  /** RFC 3339, UTC. */
  readonly madeAt: string;
  /** SPKI in base64. */
  readonly publicKey: string;
};

export class NoAnchor extends errorsOfCode('NO_ANCHOR') {}

export function signAnchor(
  statement: Omit<AnchorStatement, 'anchor' | 'publicKey'>,
  privateKey: KeyObject,
): Anchor {
  const whole: AnchorStatement = { anchor: 1, ...statement, publicKey: publicKeyOf(privateKey) };
  return { ...whole, signature: sign(null, bytesOf(whole), privateKey).toString('base64') };
}

export function isSignedByItsKey({ signature, ...statement }: Anchor): boolean {
  try {
    const key = createPublicKey({
      key: Buffer.from(statement.publicKey, 'base64'),
      format: 'der',
      type: 'spki',
    });
    return (
      key.asymmetricKeyType === 'ed25519' &&
      verify(null, bytesOf(statement), key, Buffer.from(signature, 'base64'))
    );
  } catch {
    return false;
  }
}

/** Returns the public key in the encoding of anchors. */
export function publicKeyOf(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
}

/** Returns the fingerprint of a public key in that encoding: SHA-256 of its DER, 64 hex digits. */
export function fingerprint(publicKey: string): string {
  return hash('sha256', Buffer.from(publicKey, 'base64'));
}

/** Returns the SHA-256 of the whole anchor, which the next one contains. */
export function anchorDigest(anchor: Anchor): string {
  return hash('sha256', canonicalJson(anchor));
}

/** Returns the anchor as a line of a file, without the line break. */
export function anchorLine(anchor: Anchor): string {
  return canonicalJson(anchor);
}

/** Parses a line of an anchor file. @throws {NoAnchor} */
export function anchorIn(line: string): Anchor {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new NoAnchor('It is not JSON.', { cause });
  }
  const anchor = asAnchor(value);
  if (anchorLine(anchor) !== line) throw new NoAnchor('It is not written as anchors are.');
  return anchor;
}

/** How the line of every anchor begins. */
const LINE_START = '{"anchor":1,"events":';

/** Returns whether a line is what a crash may leave of an anchor: its beginning, then zeros of a power cut. */
export function isCutLine(line: string): boolean {
  const [text = ''] = line.split('\0', 1);
  return (
    (text.startsWith(LINE_START) || LINE_START.startsWith(text)) &&
    line === text.padEnd(line.length, '\0') &&
    parseJson(line) === undefined // else it is whole
  );
}

/** Validates an anchor. @throws {NoAnchor} */
export function asAnchor(value: unknown): Anchor {
  const found = Object(value) as Record<string, unknown>; // checked property by property
  const wrong = Object.entries(SHAPE).find(([name, isRight]) => !isRight(found[name]));
  if (wrong) throw new NoAnchor(`Its ${wrong[0]} is missing or wrong.`);
  const extra = Object.keys(found).find((name) => !Object.hasOwn(SHAPE, name));
  if (extra) throw new NoAnchor(`It has something unknown: ${extra}.`);
  return found as Anchor;
}

const isDigest = (value: unknown): boolean => typeof value === 'string' && isSha256(value);
const isText = (value: unknown): boolean => typeof value === 'string';

const SHAPE: Readonly<Record<keyof Anchor, (value: unknown) => boolean>> = {
  anchor: (value) => value === 1,
  events: (value) => Number.isSafeInteger(value) && (value as number) > 0,
  root: isDigest,
  previous: (value) => value === null || isDigest(value),
  madeAt: isText,
  publicKey: isText,
  signature: isText,
};

function bytesOf(statement: AnchorStatement): Buffer {
  return Buffer.from(canonicalJson(statement satisfies JsonObject));
}
