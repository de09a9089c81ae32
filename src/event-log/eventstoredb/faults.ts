import { EventLogUnavailable } from '../event-log.ts';

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
const LASTING_CODES = new Set([3 /* invalid argument */, 7 /* permission */, 12 /* unimplemented */, 16]);
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
  return code === undefined || !LASTING_CODES.has(code);
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
  const reason = reasonOf(error);
  const { type } = factsOf(error);
  if (type && REFUSED_APPENDS.has(type))
    return new AppendRefused(`${what} was refused: ${reason}.`, { cause: error });
  return new EventLogUnavailable(`${what} failed: ${reason}.`, { cause: error });
}

/** The same as a sentence for people. */
export function troubleOf(what: string, error: unknown): string {
  const { message } = translated(what, error) as Partial<Error>;
  return message ?? String(error);
}

function reasonOf(error: unknown): string {
  const { type, code } = factsOf(error);
  const text = TEXTS.get(type ?? TYPES.get(code) ?? '');
  return (
    text ?? (type ? `the server answered ${type}` : `the server cannot be used (gRPC code ${code ?? 'none'})`)
  );
}

/** What gRPC calls it where the client lets its error through. */
const TYPES: ReadonlyMap<number | undefined, string> = new Map([
  [4, 'deadline-exceeded'],
  [7, 'access-denied'],
  [14, 'unavailable'],
  [16, 'access-denied'],
]);
const TEXTS: ReadonlyMap<string, string> = new Map([
  ['access-denied', 'the server does not allow it with these credentials'],
  ['call-lost', 'the server did not answer in time'],
  ['cancelled', 'the server broke it off'],
  ['deadline-exceeded', 'the server did not answer in time'],
  ['maximum-append-size-exceeded', 'it is larger than the server takes in one append'],
  ['not-leader', 'the cluster is changing its leader'],
  ['stream-deleted', 'the stream was deleted for good'],
  ['timeout', 'the server could not finish it in time'],
  ['unavailable', 'the server cannot be reached'],
]);

/** Errors of our own code or of its caller. */
function isMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}
