/** An engine or a worker is not available, the beginning of work cannot be counted, or the system has no more descriptors, memory or room. */
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

/** Whether time heals it. */
export function isTransient(error: unknown): boolean {
  return error instanceof Error && 'code' in error && TRANSIENT.has(String(error.code));
}
