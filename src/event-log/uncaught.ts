let exceptions = 0;
process.on('uncaughtExceptionMonitor', () => (exceptions += 1));

/** Exceptions of this process that nobody caught: it may stop in order after one, and dies of it all the same. */
export function uncaughtExceptions(): number {
  return exceptions;
}
