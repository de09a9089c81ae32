let exceptions = 0;
process.on('uncaughtExceptionMonitor', () => (exceptions += 1));

/**
 * Returns the number of uncaught exceptions of this process. After one it may still stop in order, but has crashed all
 * the same.
 */
export function uncaughtExceptionCount(): number {
  return exceptions;
}
