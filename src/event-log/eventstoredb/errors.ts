import { errorsOfCode } from '../../tools/coded-error.ts';
import { EventLogUnavailable } from '../event-log.ts';
import { InvalidPosition } from '../position.ts';
import { BadConnection } from './settings.ts';

/** An append that no repetition can make succeed: too large, or to a stream that was deleted permanently. */
export class AppendRefused extends errorsOfCode('APPEND_REFUSED') {}

/**
 * A call that exceeded its time limit, or whose client was dropped because another call did. Its outcome is unknown.
 */
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

/** The server's answer breaks its protocol. Another server, or the same one later, may answer correctly. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
}

/** The reliable properties of a client error. Its classes and messages are not reliable. */
type FaultFacts = { readonly type: string | undefined; readonly code: number | undefined };

/** Errors that a retry cannot fix. By `type`, or by gRPC code where the client passes a raw error through. */
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
const UNAVAILABLE = 14;
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
  const { type, code } = Object(error) as { type?: unknown; code?: unknown }; // any value may be thrown
  return {
    type: typeof type === 'string' ? type : undefined,
    code: typeof code === 'number' ? code : undefined,
  };
}

/** Returns `'denied'` for the error of a call that the user may not make; throws any other. */
export function unlessDenied(error: unknown): 'denied' {
  if (factsOf(error).type === 'access-denied') return 'denied';
  throw error;
}

/** Whether a retry may succeed; the first attempt may have succeeded, too. */
export function isTransient(error: unknown): boolean {
  if (isCallerError(error)) return false;
  const { type, code } = factsOf(error);
  if (type !== undefined && type !== 'unknown') return !LASTING_TYPES.has(type);
  return code === undefined || !LASTING_CODES.has(code) || isThrottled(error);
}

function isThrottled(error: unknown): boolean {
  return error instanceof Error && error.message.includes(SLOW_DOWN);
}

/** Whether the server or the network was too slow for the request. */
export function isTimeout(error: unknown): boolean {
  const { type, code } = factsOf(error);
  return error instanceof CallTimedOut || type === 'timeout' || type === 'deadline-exceeded' || code === 4;
}

/**
 * Whether the client must not be used again: it waits forever, or caches a failure forever. When it reports that the
 * server is unavailable or not the leader, it has already chosen the server of the next call.
 */
export function invalidatesClient(error: unknown): boolean {
  if (isCallerError(error)) return false;
  const { type, code } = factsOf(error);
  return (
    error instanceof CallLost || type === 'deadline-exceeded' || type === 'unsupported' || (!type && !code)
  );
}

/**
 * Returns an error with a message of this service: those of the client are empty or name its engine. Errors of the
 * caller are returned unchanged.
 */
export function toLogError(what: string, error: unknown, reason = reasonOf(error)): unknown {
  if (isCallerError(error) || error instanceof EventLogUnavailable) return error;
  return new EventLogUnavailable(`${what} failed: ${reason}.`, { cause: error });
}

/** Whether the client may have no connection. Its error does not have the reason. */
export function isDisconnected(error: unknown): boolean {
  const { type, code } = factsOf(error);
  const isKnown = error instanceof UnusableAnswer || error instanceof BadConnection;
  return type === 'unavailable' || code === UNAVAILABLE || (!type && !code && !isKnown); // or discovery failed
}

/** Returns the refusal if that is why an append failed, by the error of the client. */
export function refusalOf(what: string, error: unknown): AppendRefused | undefined {
  const { type, code } = factsOf(error);
  const isTooLarge = code === TOO_LARGE && !isThrottled(error);
  if (!isTooLarge && !REFUSED_APPENDS.has(type ?? '')) return undefined;
  return new AppendRefused(`${what} was refused: ${reasonOf(error)}.`, { cause: error });
}

function reasonOf(error: unknown): string {
  if (error instanceof UnusableAnswer || error instanceof BadConnection) {
    return error.message.replace(/\.$/, '');
  }
  const { type, code } = factsOf(error);
  const known = type === undefined || type === 'unknown' ? TYPES.get(code) : type;
  const text = TEXTS.get(known ?? '');
  if (text !== undefined) return text;
  if (type) return `the server answered ${type}`;
  return code === undefined
    ? 'no server was found that leads'
    : `the server cannot be used (gRPC code ${code})`;
}

/** Types of gRPC codes, for raw errors that the client passes through. */
const TYPES: ReadonlyMap<number | undefined, string> = new Map([
  [4, 'deadline-exceeded'],
  [7, 'access-denied'],
  [TOO_LARGE, 'message-too-large'],
  [UNAVAILABLE, 'unavailable'],
  [16, 'access-denied'],
]);
const TEXTS: ReadonlyMap<string, string> = new Map([
  ['access-denied', 'the server does not allow it with these credentials'],
  ['call-lost', 'the server did not answer in time'],
  ['cancelled', 'the server aborted the call'],
  ['deadline-exceeded', 'the server did not answer in time'],
  ['maximum-append-size-exceeded', 'it is larger than the server accepts in one append'],
  ['message-too-large', 'it is larger than one message may be'],
  ['not-leader', 'the cluster is changing its leader'],
  [
    'persistent-subscription-does-not-exist',
    'the group of the reactors does not exist: run "deposit-service groups create" as a user in $ops',
  ],
  ['stream-deleted', 'the stream was deleted permanently'],
  ['timeout', 'the server could not finish it in time'],
  ['unavailable', 'the server cannot be reached'],
]);

/**
 * Whether the caller made the error, which no repetition can fix. Any other error, also a `TypeError`, may come from an
 * answer that the client cannot parse, so it must not stop the service.
 */
function isCallerError(error: unknown): error is InvalidPosition {
  return error instanceof InvalidPosition;
}
