import { random } from './tools/random.ts';
/** In milliseconds. */
export type Pauses = {
  /** After the first failure; doubled each time. */
  readonly firstPause: number;
  readonly longestPause: number;
};

/** Milliseconds to wait after so many failures in a row, with jitter, so that what failed together is not tried together. */
export function pauseAfter(failures: number, { firstPause, longestPause }: Pauses): number {
  return Math.min(firstPause * 2 ** (failures - 1), longestPause) * (0.75 + random.fraction() / 2);
}
