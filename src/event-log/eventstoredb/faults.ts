import { EventLogUnavailable } from '../event-log.ts';
import { InvalidPosition } from '../invalid-position.ts';
import { BadConnection } from './settings.ts';

/** An append that no repetition will get through: too large, or to a stream that was deleted for good. */
export class AppendRefused extends Error {
  override readonly name = 'AppendRefused';
  readonly code = 'APPEND_REFUSED';
}

/** A call that took longer than it may, or whose client was dropped because another call did. Outcome unknown. */
export class CallLost extends Error {
  override readonly name = 'CallLost';
  readonly type = 'call-lost';
}

/** The server did not answer within the time limit of one call. */
export class CallTimedOut extends CallLost {
  constructor() {
    super('The server did not answer in time.');
  }
}

/** The server's answer breaks its protocol. Another server, or the same one later, may do better. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
}

/** What the client says of a failed call. Its classes and messages are not reliable, these two are. */
export type FaultFacts = { readonly type: string | undefined; readonly code: number | undefined };

/** Trying again changes nothing. By `type`, or by gRPC code where the client lets a raw error through. */
const LASTING_TYPES = new Set([
  'access-denied',
  'invalid-argument',
  'invalid-transaction',
  'maximum-append-size-exceeded',
  'missing-required-metadata-property',
  'stream-deleted',
  'stream-not-found',
  'wrong-expected-version',
  'persistent-subscription-does-not-exist',
  'persistent-subscription-exists',
]);
const TOO_LARGE = 8; // resource exhausted
const LASTING_CODES = new Set([
  3 /* invalid argument */,
  7 /* permission */,
  TOO_LARGE,
  12 /* unimplemented */,
  16,
]);
/** Text of the gRPC library when the server asks it to slow down, with the same code as for too large a message. */
const SLOW_DOWN = 'Bandwidth exhausted';
const REFUSED_APPENDS = new Set(['invalid-argument', 'maximum-append-size-exceeded', 'stream-deleted']);

export function factsOf(error: unknown): FaultFacts {
  const { type, code } = Object(error) as { type?: unknown; code?: unknown }; // whatever was thrown
  return {
    type: typeof type === 'string' ? type : undefined,
    code: typeof code === 'number' ? code : undefined,
  };
}

/** May go well when it is tried again; the first try may have gone well, too. */
export function isTransient(error: unknown): boolean {
  if (isMistake(error)) return false;
  const { type, code } = factsOf(error);
  if (type !== undefined && type !== 'unknown') return !LASTING_TYPES.has(type);
  return code === undefined || !LASTING_CODES.has(code) || isThrottled(error);
}

function isThrottled(error: unknown): boolean {
  return error instanceof Error && error.message.includes(SLOW_DOWN);
}

/** The server, or the way to it, was too slow for what was asked. */
export function isTimeout(error: unknown): boolean {
  const { type, code } = factsOf(error);
  return error instanceof CallTimedOut || type === 'timeout' || type === 'deadline-exceeded' || code === 4;
}

/**
 * The client must not be used again: it waits without end, or remembers a failure for ever. When it says that the
 * server is unavailable or not the leader, it has already turned to where the next call should go.
 */
export function spoilsClient(error: unknown): boolean {
  if (isMistake(error)) return false;
  const { type, code } = factsOf(error);
  return (
    error instanceof CallLost || type === 'deadline-exceeded' || type === 'unsupported' || (!type && !code)
  );
}

/** In our words: those of the client are empty or of its engine. Mistakes of the caller stay as they are. */
export function translated(what: string, error: unknown): unknown {
  if (isMistake(error) || error instanceof EventLogUnavailable) return error;
  return new EventLogUnavailable(`${what} failed: ${reasonOf(error)}.`, { cause: error });
}

/** Returns the refusal if that is why an append failed, by the error of the client. */
export function refusalOf(what: string, error: unknown): AppendRefused | undefined {
  const { type, code } = factsOf(error);
  const isTooLarge = code === TOO_LARGE && !isThrottled(error);
  if (!isTooLarge && !REFUSED_APPENDS.has(type ?? '')) return undefined;
  return new AppendRefused(`${what} was refused: ${reasonOf(error)}.`, { cause: error });
}

/** The same as a sentence for people. */
export function troubleOf(what: string, error: unknown): string {
  const { message } = translated(what, error) as Partial<Error>;
  return message ?? String(error);
}

function reasonOf(error: unknown): string {
  if (error instanceof UnusableAnswer || error instanceof BadConnection) {
    return error.message.replace(/\.$/, '');
  }
  const { type, code } = factsOf(error);
  const known = type === undefined || type === 'unknown' ? TYPES.get(code) : type;
  const text = TEXTS.get(known ?? '');
  return (
    text ?? (type ? `the server answered ${type}` : `the server cannot be used (gRPC code ${code ?? 'none'})`)
  );
}

/** What gRPC calls it where the client lets its error through. */
const TYPES: ReadonlyMap<number | undefined, string> = new Map([
  [4, 'deadline-exceeded'],
  [7, 'access-denied'],
  [TOO_LARGE, 'message-too-large'],
  [14, 'unavailable'],
  [16, 'access-denied'],
]);
const TEXTS: ReadonlyMap<string, string> = new Map([
  ['access-denied', 'the server does not allow it with these credentials'],
  ['call-lost', 'the server did not answer in time'],
  ['cancelled', 'the server broke it off'],
  ['deadline-exceeded', 'the server did not answer in time'],
  ['maximum-append-size-exceeded', 'it is larger than the server takes in one append'],
  ['message-too-large', 'it is larger than one message may be'],
  ['not-leader', 'the cluster is changing its leader'],
  ['stream-deleted', 'the stream was deleted for good'],
  ['timeout', 'the server could not finish it in time'],
  ['unavailable', 'the server cannot be reached'],
]);

/**
 * The caller's mistake, which no repetition mends. Any other error, also a `TypeError`, may come from an answer of the
 * server that the client cannot read, so it must not stop the service.
 */
function isMistake(error: unknown): error is InvalidPosition {
  return error instanceof InvalidPosition;
}
