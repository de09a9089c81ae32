import { codeOf } from '../coded-error.ts';

/**
 * Error codes: a backend or a worker is unavailable, work cannot be counted, or the system is out of descriptors,
 * memory or disk space.
 */
const TRANSIENT = new Set([
  'EVENT_LOG_UNAVAILABLE',
  'ARCHIVE_STORE_UNAVAILABLE',
  'CONCURRENT_WRITES',
  'POOL_BUSY',
  'NOT_BEGUN',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EAGAIN',
  'ENOSPC',
  'EDQUOT',
]);

/** Whether the error may disappear without a change. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(codeOf(error) ?? '');
}
