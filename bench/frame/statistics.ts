import type { Bound } from './goal.ts';

export type Spread = { readonly median: number; readonly least: number; readonly most: number };

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const median =
    sorted.length % 2 === 1 ? at(sorted, middle) : (at(sorted, middle - 1) + at(sorted, middle)) / 2;
  return { median, least: at(sorted, 0), most: at(sorted, sorted.length - 1) };
}

export function median(values: readonly number[]): number {
  return spreadOf(values).median;
}

/** Returns the value that this share of all values, from 0 to 1, does not exceed. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

/** Whether the median of the pairs satisfies the bound. */
export function holds({ kind, value }: Bound, { median: found }: Spread): boolean {
  return kind === 'at least' ? found >= value : found <= value;
}

function at(values: readonly number[], index: number): number {
  return values[index] ?? NaN;
}
