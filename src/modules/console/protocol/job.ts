/** Acts on deposits: `retry` loads failed ones again, `recheck` also checks rejected ones again. */
export type Act = 'retry' | 'recheck';

/** Work on several deposits that the server does, one after another. */
export type JobView = {
  readonly id: string;
  readonly act: Act;
  /** The person who started it. */
  readonly by: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly total: number;
  readonly done: number;
  readonly refused: number;
  /** The first refusals, each with its reason. */
  readonly refusals: readonly { readonly depositId: number; readonly message: string }[];
  /** Why it failed. */
  readonly problem: string | null;
};
