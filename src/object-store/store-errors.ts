import { codeOf } from '../tools/coded-error.ts';
import { WorkerClient } from '../tools/concurrency/worker-client.ts';
import { ObjectStoreUnavailable, ObjectUnreadable } from './object-store.ts';

/** Settles like `work`; a failure becomes an {@link ObjectStoreUnavailable} with the cause. */
export async function orUnavailable<T>(cannot: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw unavailable(cannot, cause);
  }
}

/** Returns what `read` returns; its error becomes an {@link ObjectStoreUnavailable} with the cause. */
export function readOrUnavailable<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw unavailable('read', cause);
  }
}

export function unavailable(cannot: string, cause: unknown): ObjectStoreUnavailable {
  if (cause instanceof ObjectStoreUnavailable) return cause;
  return new ObjectStoreUnavailable(`The archive store cannot ${cannot}: ${shortReason(cause)}.`, { cause });
}

/**
 * Returns the error of reading one object while the store is available. The cause itself may be an
 * {@link ObjectStoreUnavailable}.
 */
export function unreadable(sha256: string, cause: unknown): ObjectUnreadable {
  const reason = cause instanceof ObjectStoreUnavailable ? cause.cause : cause;
  return new ObjectUnreadable(sha256, shortReason(reason), { cause });
}

/** Error codes of a file system that may be able to read other files. */
const FILE_FAULTS = new Set(['EIO', 'EBADMSG', 'EUCLEAN', 'EACCES', 'EPERM']);

/** Settles like `work`. A failure of a single file becomes an {@link ObjectUnreadable}. */
export async function orUnreadable<T>(sha256: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw FILE_FAULTS.has(codeOf(cause) ?? '') ? unreadable(sha256, cause) : unavailable('read', cause);
  }
}

/**
 * Returns a short reason. Messages of file system errors contain paths, which are only for operators: they stay in the
 * cause.
 */
export function shortReason(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown fault';
  return isFileSystemError(cause) ? cause.code : cause.message;
}

/**
 * Returns a client of a thread of the store. Such threads pass buffers on and create few objects: a large young
 * generation would only stay resident.
 * @param purpose completes the sentence “The archive store cannot …”
 */
export function storeThread<Request, Reply>(
  name: string,
  program: URL,
  purpose: string,
  workerData?: unknown,
) {
  const options = { name, workerData, resourceLimits: { maxYoungGenerationSizeMb: 4 } };
  return new WorkerClient<Request, Reply>(program, (cause) => unavailable(purpose, cause), options);
}

export function isFileSystemError(error: unknown): error is Error & { code: string } {
  return /^E[A-Z0-9]+$/.test(codeOf(error) ?? '');
}
