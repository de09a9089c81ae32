import { CodedError } from '../../tools/coded-error.ts';

/**
 * A fault of an S3 store, in words for an operator. Its answers are not retained: those to a wrong signature quote the
 * access key and the signed text.
 */
export class S3Fault extends CodedError {
  /** Whether the fault may be transient. */
  readonly passing: boolean;

  /** @param code of S3, or one of this service. */
  constructor(code: string, message: string, { passing = false } = {}) {
    super(code, message);
    this.passing = passing;
  }
}

const SENTENCES: Readonly<Record<string, string>> = {
  AccessDenied: 'it denies access: the keys lack a right, or (MinIO) its drive is read-only',
  AuthorizationHeaderMalformed: 'its region is another than the configured one',
  BadDigest: 'the bytes were corrupted in transit',
  BucketAlreadyExists: 'the bucket belongs to another owner',
  ClientDisconnected: 'it aborted the request, as a server that stops does',
  InternalError: 'it failed; its own log says why',
  InvalidAccessKeyId: 'it does not know the access key',
  InvalidLocationConstraint: 'it has no region of the configured name',
  ListedOnly: 'its list names the object but it does not find it, as when some of its drives are away',
  NoSuchBucket: 'the bucket does not exist',
  NoSuchUpload: 'it no longer has the upload in parts: it was ended there, or was older than a day',
  NotFound: 'the bucket or object does not exist',
  QuotaExceeded: 'it is full: its quota for the bucket or for these keys is',
  RequestTimeTooSkewed: 'its clock and ours differ too much',
  Retained: 'it must retain this version, or the keys lack the right to remove versions',
  SignatureDoesNotMatch: 'the secret key is wrong, or (OpenStack Swift) the access key',
  SlowDownRead: 'it cannot read the object: the object is corrupt, or too few of its drives answer',
  SlowDownWrite: 'it cannot write: too few of its drives answer',
  TooManyRequests: 'it has too many requests',
  XAmzContentSHA256Mismatch: 'the bytes were corrupted in transit',
  XMinioAdminBucketQuotaExceeded: 'it is full: its quota for the bucket is',
  XMinioServerNotInitialized: 'it is starting, or too few of its drives answer',
  XMinioStorageFull: 'it is full',
};

/** Error codes by status, for answers without a code, for example to a HEAD. */
const CODES: Readonly<Record<number, string>> = { 403: 'AccessDenied', 404: 'NotFound' };

/** Statuses below 500 that may be transient; 499 comes from a MinIO that stops. */
export const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 429, 499]);

/**
 * Codes of transient faults. They also occur in answers with status 200, which begin before all of an object is copied.
 */
const PASSING_CODES: ReadonlySet<string> = new Set(['InternalError', 'ServiceUnavailable', 'SlowDown']);

/** Texts of OpenSSL for an answer that is not of TLS. */
const NOT_TLS = /wrong version number|packet length too long/;

/** Returns the fault for a refusal with this HTTP status and, if the answer has one, this S3 error code. */
export function refusal(status: number, code: string | undefined): S3Fault {
  const reason = code ?? CODES[status] ?? `status ${status}`;
  return new S3Fault(reason, sentence(reason), { passing: status >= 500 || PASSING_STATUSES.has(status) });
}

export function notS3(found: string, { passing = false } = {}): S3Fault {
  return new S3Fault('NotS3', `its answer is not that of an S3 store: ${found}`, { passing });
}

/**
 * Returns the error as a fault without any text of the store; errors of the operating system are returned unchanged.
 */
export function faultOf(error: unknown): Error {
  if (error instanceof S3Fault) return error;
  const code = codeOf(error);
  if (code === 'EPROTO' && error instanceof Error && NOT_TLS.test(error.message))
    return new S3Fault(
      'NotTls',
      'it does not speak TLS on this port: correct the port in its URL, or add tls=false',
    );
  if (code !== undefined && error instanceof Error && 'syscall' in error) return error;
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE')
    return new S3Fault('BrokenOff', 'the connection was lost', { passing: true });
  // An error of minio itself or of the connection, not one made from an answer.
  const inside = error instanceof Error && error.name !== 'S3Error' ? error : undefined;
  if (code === undefined) return notS3(inside?.name ?? 'an error without a code');
  if (inside) return new S3Fault(code, `the connection to it failed (${code})`);
  return new S3Fault(code, sentence(code), { passing: PASSING_CODES.has(code) });
}

/** Whether a retry may help: the store was busy, or the connection broke. */
export function isPassing(fault: Error): boolean {
  const code = codeOf(fault);
  return (fault instanceof S3Fault && fault.passing) || code === 'ECONNRESET' || code === 'EPIPE';
}

/** Whether the error that made the store unavailable is transient. */
export function mayBeOver(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && isPassing(error.cause);
}

/** Whether a fault with this code made the store unavailable. */
export function isFault(error: unknown, code: string): boolean {
  return error instanceof Error && error.cause instanceof S3Fault && error.cause.code === code;
}

/** Returns the fault of a store that lists an object that it does not find. */
export function listedOnly(): S3Fault {
  return new S3Fault('ListedOnly', sentence('ListedOnly'));
}

/** Returns the fault of a store that does not remove a version of an object. */
export function retained(): S3Fault {
  return new S3Fault('Retained', sentence('Retained'));
}

export function isBrokenOff(fault: Error): boolean {
  return ['BrokenOff', 'ECONNRESET', 'EPIPE'].includes(codeOf(fault) ?? '');
}

/** Whether reading an object was interrupted, or the store reports that it cannot read it. */
export function isUnread(error: unknown): boolean {
  const broke = error instanceof Error && error.cause instanceof Error && isBrokenOff(error.cause);
  return broke || isFault(error, 'SlowDownRead');
}

/** Whether the store may have refused to remove a version for its retention: MinIO answers the former, AWS the latter. */
export function mayBeRetained(error: unknown): boolean {
  return isFault(error, 'InvalidRequest') || isFault(error, 'AccessDenied');
}

/** Whether the bytes that arrived at the store were not those that were sent. */
export function isDamagedOnWay(error: unknown): boolean {
  return isFault(error, 'BadDigest') || isFault(error, 'XAmzContentSHA256Mismatch');
}

export function isMissing(error: unknown): boolean {
  return ['NotFound', 'NoSuchKey', 'NoSuchUpload'].includes(codeOf(error) ?? '');
}

function sentence(code: string): string {
  const known = Object.hasOwn(SENTENCES, code) ? SENTENCES[code] : undefined;
  return known === undefined ? `it answered ${code}` : `${known} (${code})`;
}

/** Returns the code of an error: errors in the body of an answer have a `Code`, minio's own errors a `code`. */
function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const code = 'code' in error ? error.code : 'Code' in error ? error.Code : undefined;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : undefined;
}
