import { random } from '../random.ts';
/** Pauses of repeated attempts, in milliseconds. */
export type BackoffOptions = {
  /** Pause after the first failure; doubled after each further one. */
  readonly firstPause: number;
  readonly longestPause: number;
};

/**
 * Returns the milliseconds to wait after a number of consecutive failures. Jitter keeps work that failed
 * together from being repeated together.
 */
export function backoffDelay(failures: number, { firstPause, longestPause }: BackoffOptions): number {
  return Math.min(firstPause * 2 ** (failures - 1), longestPause) * (0.75 + random.fraction() / 2);
}
