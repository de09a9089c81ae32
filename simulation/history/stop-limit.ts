/** Milliseconds after which a process that was asked to stop is killed. */
export const STOP_LIMIT_MS = 15_000;
