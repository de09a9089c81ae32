import type { Status } from '../documents/deposit-documents.ts';
import { EXIT, numberOrIri } from '../faults.ts';

/** Whether the identifier of the deposit is the one computed here; `null` while one of them is unknown. */
export function agreesWith(expected: string | null, { swhid }: Pick<Status, 'swhid'>): boolean | null {
  return expected === null || swhid === null ? null : swhid === expected;
}

export function exitCodeOf(status: Pick<Status, 'status' | 'swhid'>, expected: string | null = null): number {
  if (status.status === 'rejected' || status.status === 'failed') return EXIT.rejected;
  return agreesWith(expected, status) === false ? EXIT.identifierDiffers : EXIT.done;
}

/** Returns the status as lines for people. `expected` is the identifier computed here. */
export function statusLines(status: Status, expected: string | null = null): string[] {
  const agrees = agreesWith(expected, status);
  const { deposit, title, swhid, swhidContext } = status;
  // The detail of a partial deposit names headers of HTTP.
  const isPartial = status.isOfService && status.status === 'partial';
  const detail = isPartial ? nextSteps(deposit) : status.detail;
  return [
    `${nameOf(deposit, title)}: ${status.status}`,
    ...(detail === null ? [] : [detail]),
    ...(swhid === null ? [] : [swhidContext ?? swhid]),
    ...(agrees === true ? ['The identifier matches the one computed here.'] : []),
    ...(agrees === false ? [`The identifier DIFFERS from the one computed here: ${expected}`] : []),
  ];
}

/** Returns the status as JSON for programs. */
export function statusFacts(status: Status): Readonly<Record<string, unknown>> {
  const { isOfService: _, ...facts } = status;
  return { ...facts, deposit: numberOrIri(status.deposit) };
}

/** Returns what to do with a partial deposit. */
function nextSteps(deposit: string): string {
  return `It is not checked yet. Add to it with deposit upload --deposit ${deposit}, or complete it with deposit complete ${deposit}.`;
}

/** Returns a name for the deposit: its number, with its title if it has one. */
function nameOf(deposit: string, title: string | null): string {
  const number = `Deposit ${deposit}`;
  return title === null || title === number ? number : `${number} “${title}”`;
}
