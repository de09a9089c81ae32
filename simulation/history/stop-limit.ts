/** Milliseconds after which a process that was asked to stop is killed: before it would cut off open requests itself. */
export const STOP_LIMIT_MS = 15_000;
