import type { JsonObject } from './canonical-json.ts';

/** Number of anchors before the newest one that evidence has, if the log has as many. */
export const MAX_EARLIER_ANCHORS = 1000;

/** All that proves one deposit, without the service: the contents of a file `deposit-N.audit.json`. */
export type Evidence = {
  /** Version of this format. */
  readonly evidence: 1;
  readonly deposit: number;
  /** Address of the service that gave it: an http or https URL without characters that a URL escapes. */
  readonly service: string;
  /** When it gave it: RFC 3339. */
  readonly savedAt: string;
  readonly events: readonly ProvenEvent[];
  /** The newest anchor of the log, and where it covers an event of the deposit; `null` without one. */
  readonly anchor: SignedAnchor | null;
  readonly covered: CoveredEvent | null;
  /** The last {@link MAX_EARLIER_ANCHORS} before it, the oldest first. Earlier releases did not collect them. */
  readonly earlier?: readonly EarlierAnchor[];
  /** The manifest of the tree; `null` if the deposit is not loaded. */
  readonly manifest: string | null;
};

/** An event as the log has it. Its position is not proven, so it is not part of it. */
export type ProvenEvent = {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
};

/** A signed statement about the first `events` events of the log. */
export type SignedAnchor = JsonObject & {
  readonly events: number;
  /** Root of their Merkle tree, 64 hex digits. */
  readonly root: string;
  readonly madeAt: string;
  /** DER (SPKI), base64. */
  readonly publicKey: string;
  /** Ed25519 over the other members as canonical JSON, base64. */
  readonly signature: string;
};

/** The place of one leaf in a Merkle tree (RFC 6962), with the hashes that lead from it to the root. */
export type Inclusion = {
  /** Number of the leaf, from 0. */
  readonly index: number;
  /** 64 hex digits each, from the leaf to the root. */
  readonly path: readonly string[];
};

/** The last event of the deposit that an anchor covers. */
export type CoveredEvent = Inclusion & { readonly revision: number };

/** An anchor before the newest one. */
export type EarlierAnchor = {
  readonly anchor: SignedAnchor;
  /** The root over as many events, as the hashes of the log gave it; `null` if the log had fewer events. */
  readonly root: string | null;
};

const isDigest = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): boolean => typeof value === 'string';
const isUrl = (value: unknown): boolean =>
  isText(value) && /^https?:\/\/[!-~]+$/.test(value as string) && URL.canParse(value as string);
const isTime = (value: unknown): boolean =>
  isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(value as string);
const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Shape = Readonly<Record<string, (value: unknown) => boolean>>;

const EVENT: Shape = {
  stream: isText,
  revision: isNumber,
  id: isText,
  type: isText,
  data: isObject,
  metadata: isObject,
};
const ANCHOR: Shape = {
  anchor: (value) => value === 1,
  previous: (value) => value === null || isDigest(value),
  events: isNumber,
  root: isDigest,
  madeAt: isText,
  publicKey: isText,
  signature: isText,
};
const COVERED: Shape = {
  revision: isNumber,
  index: isNumber,
  path: (value) => Array.isArray(value) && value.every(isDigest),
};
const EARLIER: Shape = {
  anchor: (value) => has(ANCHOR, value),
  root: (value) => value === null || isDigest(value),
};
const EVIDENCE: Shape = {
  evidence: (value) => value === 1,
  deposit: isNumber,
  service: isUrl,
  savedAt: isTime,
  events: (value) => Array.isArray(value) && value.length > 0 && value.every((event) => has(EVENT, event)),
  anchor: (value) => value === null || has(ANCHOR, value),
  covered: (value) => value === null || has(COVERED, value),
  earlier: (value) =>
    value === undefined || (Array.isArray(value) && value.every((one) => has(EARLIER, one))),
  manifest: (value) => value === null || isText(value),
};

/** Parses an evidence file. @throws {Error} the text is something else; the message says what is wrong */
export function readEvidence(text: string): Evidence {
  const value: unknown = JSON.parse(text);
  const wrong = Object.entries(EVIDENCE).find(([name, fits]) => !fits((Object(value) as JsonObject)[name]));
  if (wrong) throw new Error(`This is not evidence of version 1: its ${wrong[0]} is missing or malformed.`);
  const more = othersIn(EVIDENCE, value);
  if (more.length > 0) throw new Error(`This is not evidence of version 1: it also has ${more.join(', ')}.`);
  // Of a key that stands twice, readers take different ones. The page that saves evidence writes it as compared here.
  if (JSON.stringify(value) !== text.trim())
    throw new Error('This is not evidence as it is saved: a key stands twice, or it was written otherwise.');
  return value as Evidence;
}

function has(shape: Shape, value: unknown): boolean {
  return (
    isObject(value) &&
    Object.entries(shape).every(([name, fits]) => fits((value as JsonObject)[name])) &&
    othersIn(shape, value).length === 0
  );
}

/** Returns the members that the shape does not have: no step would prove them. */
function othersIn(shape: Shape, value: unknown): readonly string[] {
  return Object.keys(value as JsonObject).filter((name) => !Object.hasOwn(shape, name));
}
