import { ArchiveStoreUnavailable, ObjectUnreadable } from './archive-store.ts';

/** Passes on what `work` gives; its failure becomes an {@link ArchiveStoreUnavailable} with the cause. */
export async function orUnavailable<T>(cannot: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw unavailable(cannot, cause);
  }
}

export function unavailable(cannot: string, cause: unknown): ArchiveStoreUnavailable {
  if (cause instanceof ArchiveStoreUnavailable) return cause;
  return new ArchiveStoreUnavailable(`The archive store cannot ${cannot}: ${inShort(cause)}.`, { cause });
}

/** The failure to read one object, while the store is available. The cause itself may be an {@link ArchiveStoreUnavailable}. */
export function unreadable(sha256: string, cause: unknown): ObjectUnreadable {
  const reason = cause instanceof ArchiveStoreUnavailable ? cause.cause : cause;
  return new ObjectUnreadable(sha256, inShort(reason), { cause });
}

/** The file system cannot read this file, but perhaps others. */
const FILE_FAULTS = ['EIO', 'EBADMSG', 'EUCLEAN', 'EACCES', 'EPERM'];

/** Passes on what `work` gives. A failure that is the fault of one file becomes an {@link ObjectUnreadable}. */
export async function orUnreadable<T>(sha256: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw hasCode(cause, ...FILE_FAULTS) ? unreadable(sha256, cause) : unavailable('read', cause);
  }
}

/** Messages of file system errors hold paths, which are for operators: they stay in the cause. */
function inShort(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown fault';
  return isFileSystemError(cause) ? cause.code : cause.message;
}

function isFileSystemError(error: Error): error is Error & { code: string } {
  return 'code' in error && typeof error.code === 'string' && /^E[A-Z0-9]+$/.test(error.code);
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && isFileSystemError(error) && codes.includes(error.code);
}
