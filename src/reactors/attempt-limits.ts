import { StaleRead } from '../event-log/event-log.ts';
import { ObjectMissing } from '../object-store/object-store.ts';
import { DeadlyEvent } from './counted-tries.ts';

/** Attempts of work that fails with an error that is not transient. */
export const MAX_TRIES = 5;
/** Attempts of work that misses an object or an event: about four minutes, in which it may be shown again. */
const MISSING_TRIES = 15;

/** Returns how often work may fail with the error. */
export function maxAttempts(error: unknown): number {
  if (error instanceof DeadlyEvent) return 1;
  return error instanceof ObjectMissing || error instanceof StaleRead ? MISSING_TRIES : MAX_TRIES;
}

/** Returns how often a reactor may fail to end work that failed with the error. */
export function triesToGiveUp(error: unknown): number {
  return error instanceof StaleRead ? MISSING_TRIES : 1;
}
