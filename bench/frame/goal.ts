import type { Inputs } from '../inputs/inputs.ts';

/** A goal of the hot paths: both sides that are measured, and the bound of their ratio. */
export type Goal = {
  readonly id: string;
  readonly what: string;
  measure(bench: Bench): Promise<readonly Comparison[]>;
};

export type Bench = {
  /** Measured rounds; warm-up rounds come before them. */
  readonly pairs: number;
  /** Milliseconds added to each sync of this process and of all that it starts. */
  readonly addedSyncTime: number;
  /** A folder for this goal alone, removed afterwards. */
  readonly folder: string;
  readonly inputs: Inputs;
  readonly tell: (progress: string) => void;
};

/** The result of a goal: of two sides in one interleaved run, or of one side whose value is the goal itself. */
export type Comparison = {
  readonly what: string;
  readonly unit: string;
  readonly ours: Side;
  readonly reference?: Side;
  /** Bound of the ratio in each pair, or of the value if there is no reference; `undefined`: only shown. */
  readonly wanted: Bound | undefined;
  readonly note?: string;
};

export type Side = { readonly name: string; readonly values: readonly number[] };

export type Bound = { readonly kind: 'at least' | 'at most'; readonly value: number };

export function atLeast(value: number): Bound {
  return { kind: 'at least', value };
}

export function atMost(value: number): Bound {
  return { kind: 'at most', value };
}

/** Returns the values that the bound applies to, pair by pair. */
export function judgedValues({ ours, reference }: Comparison): number[] {
  if (!reference) return [...ours.values];
  return ours.values.map((value, pair) => value / (reference.values[pair] as number)); // both are measured in each pair
}
