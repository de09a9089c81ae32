import type { Reason } from './events.ts';

/** The seven statuses that are ever shown, interface.md, States. */
export type Status = 'partial' | 'deposited' | 'rejected' | 'verified' | 'loading' | 'done' | 'failed';

const SENTENCES: Readonly<Record<Status, string>> = {
  partial: 'The deposit is partial: send the rest, the last request with In-Progress: false.',
  deposited: 'The deposit is complete and waits for its checks.',
  rejected: 'The deposit failed its checks.',
  verified: 'The deposit passed its checks and waits to be loaded.',
  loading: 'The deposit is being loaded.',
  done: 'The deposit has been loaded.',
  failed: 'Loading the deposit failed.',
};

export function isStatus(text: string): text is Status {
  return Object.hasOwn(SENTENCES, text);
}

/** In the order in which a deposit gets them. */
export const STATUSES = Object.keys(SENTENCES) as readonly Status[];

/** Reasons as lines `- <reason> (<fields>)`, or a sentence for the status, with warnings apart from either. */
export function statusDetail(
  status: Status,
  reasons: readonly Reason[],
  warnings: readonly Reason[] = [],
): string {
  const main = reasons.length > 0 ? lines(reasons) : SENTENCES[status];
  return warnings.length > 0 ? `${main}\nWarnings:\n${lines(warnings)}` : main;
}

function lines(reasons: readonly Reason[]): string {
  return reasons.map(({ text, fields }) => `- ${text} (${fields.join(', ')})`).join('\n');
}
