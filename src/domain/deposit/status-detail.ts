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

/** The detail while an object of the deposit cannot be read, whatever its status is. */
export const UNREADABLE =
  'The service cannot read its copy of the archive at the moment; nothing is needed from you.';

export function isStatus(text: string): text is Status {
  return Object.hasOwn(SENTENCES, text);
}

/** In the order in which a deposit gets them. */
export const STATUSES = Object.keys(SENTENCES) as readonly Status[];

/** Those that a deposit should leave. */
export const PASSING = ['partial', 'deposited', 'verified', 'loading'] as const satisfies readonly Status[];

/** Reasons as lines `- <reason> (<fields>)`, or a sentence for the status, with warnings apart from either. */
export function statusDetail(
  status: Status,
  reasons: readonly Reason[],
  warnings: readonly Reason[] = [],
): string {
  const main = reasons.length > 0 ? lines(reasons) : SENTENCES[status];
  return withWarnings(main, warnings);
}

/** Of a deposit that is done without software. */
export function metadataDetail(warnings: readonly Reason[]): string {
  return withWarnings('The metadata have been deposited.', warnings);
}

/** A detail, and the warnings apart from it. */
export function withWarnings(detail: string, warnings: readonly Reason[]): string {
  return warnings.length > 0 ? `${detail}\nWarnings:\n${lines(warnings)}` : detail;
}

/** A reason in the words of a status detail. */
export function reasonText({ text, fields }: Reason): string {
  return `${text} (${fields.join(', ')})`;
}

function lines(reasons: readonly Reason[]): string {
  return reasons.map((reason) => `- ${reasonText(reason)}`).join('\n');
}
