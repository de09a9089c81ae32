import type { DepositEvent, Reason } from './events.ts';

/** The seven statuses that clients see: interface.md, Life of a deposit. */
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

/** The detail while an object of the deposit cannot be read, for every status. */
export const UNREADABLE =
  'The service cannot read its copy of the archive at the moment; nothing is needed from you.';

export function isStatus(text: string): text is Status {
  return Object.hasOwn(SENTENCES, text);
}

/** All statuses, in the order in which a deposit reaches them. */
export const STATUSES = Object.keys(SENTENCES) as readonly Status[];

/** Statuses that a deposit is expected to leave. */
export const UNFINISHED = [
  'partial',
  'deposited',
  'verified',
  'loading',
] as const satisfies readonly Status[];

/** The status that begins with each event that changes it. No client sees `deleted`. */
export const STATUS_AFTER = {
  DepositCreated: 'partial',
  DepositCompleted: 'deposited',
  ChecksRetried: 'deposited',
  DepositRejected: 'rejected',
  DepositVerified: 'verified',
  LoadingRetried: 'verified',
  LoadingStarted: 'loading',
  DepositLoaded: 'done',
  MetadataDeposited: 'done',
  LoadingFailed: 'failed',
  DepositDeleted: 'deleted',
} as const satisfies { readonly [Type in DepositEvent['type']]?: Status | 'deleted' };

/** Returns the status that begins with an event of this type; `undefined` if the event changes none. */
export function statusAfter(type: string): Status | 'deleted' | undefined {
  return Object.hasOwn(STATUS_AFTER, type) ? STATUS_AFTER[type as keyof typeof STATUS_AFTER] : undefined;
}

/** Next step of a client whose deposit was rejected. */
const AFTER_REJECTION = 'A rejected deposit cannot be changed: correct this and make a new deposit.';

/** Returns the reasons as lines `- <reason> (<fields>)`, or a sentence for the status; warnings follow separately. */
export function statusDetail(
  status: Status,
  reasons: readonly Reason[],
  warnings: readonly Reason[] = [],
): string {
  if (reasons.length === 0) return withWarnings(SENTENCES[status], warnings);
  const main = status === 'rejected' ? `${lines(reasons)}\n${AFTER_REJECTION}` : lines(reasons);
  return withWarnings(main, warnings);
}

/** Returns the detail of a dry run that found reasons to reject. */
export function dryRunDetail(reasons: readonly Reason[], warnings: readonly Reason[]): string {
  return withWarnings(lines(reasons), warnings);
}

/** Returns the detail of a complete deposit in which something is missing, before the checks reject it. */
export function missingDetail(reasons: readonly Reason[]): string {
  return `The checks will reject this deposit:\n${lines(reasons)}`;
}

/** Returns the status detail of a deposit that is done and has no software. */
export function metadataDetail(warnings: readonly Reason[]): string {
  return withWarnings('The metadata have been deposited.', warnings);
}

/** Appends the warnings to a detail, in a section of their own. */
export function withWarnings(detail: string, warnings: readonly Reason[]): string {
  return warnings.length > 0 ? `${detail}\nWarnings:\n${lines(warnings)}` : detail;
}

/** Formats a reason for a status detail. */
export function reasonText({ text, fields, values }: Reason): string {
  return `${text} (${fields.join(', ')})${values === undefined ? '' : `: ${values}`}`;
}

function lines(reasons: readonly Reason[]): string {
  return reasons.map((reason) => `- ${reasonText(reason)}`).join('\n');
}
