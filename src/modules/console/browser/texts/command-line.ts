import type { Act } from '../../protocol/job.ts';

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
  return name === 'reason' && act === 'recheck'
    ? `npx deposit-service retry --reason ${shellWord(value ?? '')}`
    : undefined;
}

/** Returns a text as one word of a shell: an address may have any text as the value of a filter. */
export function shellWord(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
