import { statusFacts } from '../deposit/format-status.ts';
import { linkOf, type Status, statusOf } from '../documents/deposit-documents.ts';
import { pagesOf } from '../documents/feed.ts';
import { chooseCollection, fetchServiceDocument } from '../documents/service-document.ts';
import { textOf, type XmlElement } from '../documents/xml-tree.ts';
import { EXIT, Fault, UsageFault } from '../faults.ts';
import { Refused } from '../http/refused.ts';
import { assertOnlyOptions, COMMON_HELP, COMMON_OPTIONS, openSession, readArguments } from '../session.ts';

export const HELP = `Lists your deposits in a collection, newest first.

  deposit list [--status S] [options]

--status S   only deposits with this status: partial, deposited, rejected, verified, loading, done or failed
${COMMON_HELP}
Exit codes: 0 success, 1 refused or failed, 2 wrong usage, 5 server unreachable or not ready.
`;

const STATUSES = ['partial', 'deposited', 'rejected', 'verified', 'loading', 'done', 'failed'];

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...COMMON_OPTIONS, status: { type: 'string' } });
  const { status: wanted } = values;
  assertOnlyOptions(positionals, 'list');
  if (wanted !== undefined && !STATUSES.includes(wanted))
    throw new UsageFault(`Unknown status '${wanted}'. Use one of ${STATUSES.join(', ')}.`);
  const { connection, output } = await openSession(values);
  const { iri, name } = chooseCollection(await fetchServiceDocument(connection), values.collection);
  let [listed, count] = [0, null as string | null];
  try {
    for await (const { entries, root, iri: page } of pagesOf(connection, withStatus(iri, wanted))) {
      count ??= textOf(root, 'count');
      for (const entry of entries) {
        const status = statusOf(entry, iri);
        // A server that ignores the parameter lists all deposits.
        if (wanted !== undefined && status.status !== wanted) continue;
        listed += 1;
        output.result(factsOf(status, entry, { name, page }), lineOf(status));
      }
    }
  } catch (error) {
    throw isWithoutList(error)
      ? new Fault(`The server does not list deposits: it does not support GET ${iri}.`)
      : error;
  }
  if (!output.json && listed === 0)
    output.note(`No deposits in ${name}${wanted ? ` with status ${wanted}` : ''}.`);
  else if (!output.json)
    output.note(count === null ? `${listed} deposits listed.` : `${listed} of ${count} deposits listed.`);
  return EXIT.done;
}

function withStatus(iri: string, status: string | undefined): string {
  if (status === undefined) return iri;
  const url = new URL(iri);
  url.searchParams.set('status', status);
  return url.href;
}

function isWithoutList(error: unknown): boolean {
  return error instanceof Refused && [404, 405, 501].includes(error.status);
}

function factsOf(
  status: Status,
  entry: XmlElement,
  { name, page }: { name: string; page: string },
): Readonly<Record<string, unknown>> {
  return {
    ...statusFacts(status),
    collection: name,
    received: textOf(entry, 'reception_date', 'published'),
    completed: textOf(entry, 'complete_date'),
    origin: textOf(entry, 'origin_url'),
    edit: linkOf(entry, 'edit', page),
  };
}

function lineOf({ deposit, status, title, swhid, updated }: Status): string {
  return [deposit.padStart(6), status.padEnd(9), updated ?? '', title ?? '', swhid ?? '']
    .filter((field) => field !== '')
    .join('  ');
}
