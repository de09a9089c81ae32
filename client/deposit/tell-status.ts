import type { Status } from '../documents/deposit-documents.ts';
import { EXIT } from '../faults.ts';

/** What was found out about identifiers: the one that was computed here, and whether the server's is the same. */
export type Expectation = { readonly expectedSwhid: string | null; readonly agrees: boolean | null };

const NOTHING_EXPECTED: Expectation = { expectedSwhid: null, agrees: null };

export function compared(status: Status, expectedSwhid: string | null): Expectation {
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

/** For people, a few lines. */
export function statusLines(
  status: Status,
  { expectedSwhid, agrees }: Expectation = NOTHING_EXPECTED,
): string[] {
  const { deposit, title, detail, swhid, swhidContext } = status;
  return [
    `${named(deposit, title)}: ${status.status}`,
    ...(detail === null ? [] : [detail]),
    ...(swhid === null ? [] : [swhidContext ?? swhid]),
    ...(agrees === true ? ['The identifier is the one that was computed here.'] : []),
    ...(agrees === false
      ? [`The identifier DIFFERS from the one that was computed here: ${expectedSwhid}`]
      : []),
  ];
}

/** For programs. */
export function statusFacts(status: Status): Readonly<Record<string, unknown>> {
  const { deposit, title, detail, updated, swhid, swhidContext } = status;
  return { deposit: Number(deposit), title, status: status.status, detail, updated, swhid, swhidContext };
}

/** What has no title yet is called by its number. */
function named(deposit: string, title: string | null): string {
  const number = `Deposit ${deposit}`;
  return title === null || title === number ? number : `${number} “${title}”`;
}
