import type { Inputs } from '../inputs/inputs.ts';

/** One of the goals of the hot paths: what is measured against what, and what the ratio has to be. */
export type Goal = {
  readonly id: string;
  readonly what: string;
  measure(bench: Bench): Promise<readonly Comparison[]>;
};

export type Bench = {
  /** Counted rounds; others come before them to warm up. */
  readonly pairs: number;
  /** Milliseconds added to each sync of this process and of all that it starts. */
  readonly addedSyncTime: number;
  /** For this goal alone, removed afterwards. */
  readonly folder: string;
  readonly inputs: Inputs;
  readonly tell: (progress: string) => void;
};

/** What a goal found, of two sides in one interleaved run, or of one side whose value is the goal itself. */
export type Comparison = {
  readonly what: string;
  readonly unit: string;
  readonly ours: Side;
  readonly reference?: Side;
  /** Of the ratio of both in each pair, or of the value where there is no reference; `undefined`: only shown. */
  readonly wanted: Bound | undefined;
  readonly note?: string;
};

export type Side = { readonly name: string; readonly values: readonly number[] };

export type Bound = { readonly kind: 'at least' | 'at most'; readonly value: number };

/** Cannot be measured on this machine; the message says what is missing. */
export class NotMeasured extends Error {
  override readonly name = 'NotMeasured';
}

export function atLeast(value: number): Bound {
  return { kind: 'at least', value };
}

export function atMost(value: number): Bound {
  return { kind: 'at most', value };
}

/** What the bound is of, pair by pair. */
export function judgedValues({ ours, reference }: Comparison): number[] {
  if (!reference) return [...ours.values];
  return ours.values.map((value, pair) => value / (reference.values[pair] as number)); // both took part in each pair
}
