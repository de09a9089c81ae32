const TRANSIENT = new Set([
  'EVENT_LOG_UNAVAILABLE',
  'ARCHIVE_STORE_UNAVAILABLE',
  'CONCURRENT_WRITES',
  'POOL_BUSY',
]);

/** Whether it is an error that time heals. */
export function isTransient(error: unknown): boolean {
  return error instanceof Error && 'code' in error && TRANSIENT.has(String(error.code));
}
