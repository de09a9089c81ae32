import type { Status } from '../documents/deposit-documents.ts';
import { EXIT, numberOrIri } from '../faults.ts';

/** The identifier computed here, and whether the server's is equal. */
export type Expectation = { readonly expectedSwhid: string | null; readonly agrees: boolean | null };

const NOTHING_EXPECTED: Expectation = { expectedSwhid: null, agrees: null };

export function compareIdentifiers(status: Status, expectedSwhid: string | null): Expectation {
  const agrees = expectedSwhid === null || status.swhid === null ? null : status.swhid === expectedSwhid;
  return { expectedSwhid, agrees };
}

export function exitCodeOf(
  { status }: Pick<Status, 'status'>,
  { agrees }: Expectation = NOTHING_EXPECTED,
): number {
  if (status === 'rejected' || status === 'failed') return EXIT.rejected;
  return agrees === false ? EXIT.identifierDiffers : EXIT.done;
}

/** Returns the status as lines for people. */
export function statusLines(
  status: Status,
  { expectedSwhid, agrees }: Expectation = NOTHING_EXPECTED,
): string[] {
  const { deposit, title, detail, swhid, swhidContext } = status;
  return [
    `${nameOf(deposit, title)}: ${status.status}`,
    ...(detail === null ? [] : [detail]),
    ...(swhid === null ? [] : [swhidContext ?? swhid]),
    ...(agrees === true ? ['The identifier matches the one computed here.'] : []),
    ...(agrees === false ? [`The identifier DIFFERS from the one computed here: ${expectedSwhid}`] : []),
  ];
}

/** Returns the status as JSON for programs. */
export function statusFacts(status: Status): Readonly<Record<string, unknown>> {
  const { deposit, title, detail, updated, swhid, swhidContext } = status;
  return {
    deposit: numberOrIri(deposit),
    title,
    status: status.status,
    detail,
    updated,
    swhid,
    swhidContext,
  };
}

/** Returns a name for the deposit: its number, with its title if it has one. */
function nameOf(deposit: string, title: string | null): string {
  const number = `Deposit ${deposit}`;
  return title === null || title === number ? number : `${number} “${title}”`;
}
