import { type OpenedDeposit, withDeposit } from '../deposit/find-deposit.ts';
import { type HistoryEvent, historyEventOf, pagesOf } from '../documents/feed.ts';
import { EXIT, Fault, numberOrIri } from '../faults.ts';
import { COMMON_HELP, COMMON_OPTIONS, readArguments } from '../session.ts';

export const HELP = `Shows what happened to a deposit, event by event, oldest first.

  deposit history N [options]

N is the number of the deposit or its Edit-IRI.
${COMMON_HELP}
Exit codes: 0 success, 1 refused or failed, 2 wrong usage, 5 server unreachable or not ready.
`;

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, COMMON_OPTIONS);
  return withDeposit(positionals, values, printHistory);
}

async function printHistory({ connection, output, deposit, links }: OpenedDeposit): Promise<number> {
  if (links.history === null) throw new Fault(`The server offers no history of deposit ${deposit}.`);
  let number = 0;
  for await (const { entries } of pagesOf(connection, links.history)) {
    for (const event of entries.map(historyEventOf)) {
      output.result({ deposit: numberOrIri(deposit), number, ...event }, ...linesOf(number, event));
      number += 1;
    }
  }
  return EXIT.done;
}

function linesOf(number: number, { at, by, sentence, type, details }: HistoryEvent): string[] {
  const head = [`#${number}`, at ?? '', by ?? ''].filter((field) => field !== '').join('  ');
  return [
    head,
    `    ${sentence ?? type ?? 'Event without a description.'}`,
    ...details.map((line) => `      ${line}`),
  ];
}
