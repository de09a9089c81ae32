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

/** Returns the command line that does the same, or `undefined` where the command cannot select these deposits. */
export function commandLine(
  act: Act,
  selected: { readonly ids: readonly number[] } | { readonly filter: Readonly<Record<string, string>> },
): string | undefined {
  const recheck = act === 'recheck' ? ' --recheck' : '';
  if ('ids' in selected) return `npx deposit-service retry ${selected.ids.join(' ')}${recheck}`;
  const [[name, value] = [], ...others] = Object.entries(selected.filter);
  if (others.length > 0) return undefined;
  if (name === 'status' && value === 'rejected' && act === 'recheck')
    return 'npx deposit-service retry --status rejected';
  if (name === 'status' && value === 'failed') return 'npx deposit-service retry --status failed';
  return name === 'reason' && act === 'recheck' ? `npx deposit-service retry --reason ${value}` : undefined;
}
