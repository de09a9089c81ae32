import type { HistoryResult } from './history/run-history.ts';
import type { Plan } from './plan/plan.ts';

export type SimulatorRequest =
  | { readonly kind: 'seed'; readonly seed: number }
  | { readonly kind: 'plan'; readonly plan: Plan; readonly isTraced: boolean }
  | { readonly kind: 'shrink'; readonly plan: Plan; readonly violation: string };

export type SimulatorReply =
  | {
      readonly kind: 'result';
      readonly plan: Plan;
      readonly result: HistoryResult;
      readonly cpuMs: number;
    }
  | { readonly kind: 'shrunk'; readonly plan: Plan; readonly runs: number }
  | { readonly kind: 'error'; readonly text: string };
