import { type Fact, pluralize, quoted } from '../../domain/description.ts';
import { printableLine } from '../../tools/terminal/printable.ts';
import { columnsOf, wrapLines } from '../../tools/terminal/wrap-lines.ts';
import { actorText, correlationOf, timeOf } from './history-metadata.ts';
import type { Step } from './stream-history.ts';

/** Columns of the output: those of a narrower terminal, which would otherwise wrap lines without a mark. */
const WIDTH = Math.min(100, Math.max(40, process.stdout.columns ?? 100));

/** Formats one event for a person; `before` is the previous step. */
export function stepText(step: Step, before: Step | undefined): string {
  const { stored, fault, unknown, description, state } = step;
  const correlation = correlationOf(stored);
  const isNews = correlation !== '' && (!before || correlationOf(before.stored) !== correlation);
  return [
    `#${stored.revision}  ${humanTime(stored)}  ${printableLine(actorText(stored))}  → ${state.status}`,
    ...(fault === undefined ? [] : wrapLines(`!!! BROKEN: ${fault}.`, 4, WIDTH)),
    ...(unknown === undefined ? [] : wrapLines(`??? UNKNOWN to this release: ${unknown}`, 4, WIDTH)),
    ...wrapLines(description.sentence, 4, WIDTH),
    ...packLines(description.details),
    ...(isNews ? packLines([{ label: 'correlation', value: correlation }]) : []),
    ...packLines(changes(step, before)),
  ].join('\n');
}

export function stateText(name: string, { stored, fault, unknown, description, state, facts }: Step): string {
  const last = `#${stored.revision} ${description.sentence}`;
  const rows: readonly Fact[] = [
    { label: 'status', values: [state.status] },
    ...facts,
    { label: 'last event', values: [last, `by ${actorText(stored)}`] },
    ...(fault === undefined ? [] : [{ label: '!!! BROKEN', values: [`the last event: ${fault}`] }]),
    ...(unknown === undefined ? [] : [{ label: '??? UNKNOWN', values: [`the last event: ${unknown}`] }]),
  ];
  const width = Math.max(...rows.map(({ label }) => label.length)) + 4;
  const lines = rows.flatMap(({ label, values }) => {
    const [first = '', ...others] = (values.length > 0 ? values : ['none']).flatMap((v) =>
      wrapLines(v, width, WIDTH),
    );
    return [`  ${label.padEnd(width - 4)}  ${first.trimStart()}`, ...others];
  });
  return [`${name} at ${humanTime(stored)}, after event ${stored.revision}`, ...lines].join('\n');
}

/** Returns the last line of a history after `events` events. */
export function closingText(
  name: string,
  { state: { status } }: Step,
  events: number,
  isWhole: boolean,
): string {
  const count = pluralize(events, 'event');
  const text =
    status === 'deleted'
      ? `${name} was deleted after ${count}: it is no longer shown, but its history stays.`
      : `${name} is ${status} after ${count}.`;
  return wrapLines(`${text}${isWhole ? ' Every hash fits.' : ''}`, 0, WIDTH).join('\n');
}

type Labelled = { readonly label: string; readonly value: string };

/** Returns the changes of the state that the event does not itself describe; for the first step, all of the state. */
function changes({ facts, description }: Step, before: Step | undefined): Labelled[] {
  if (!before) return [];
  const eventText = [description.sentence, ...description.details.map(({ value }) => value)].join('\n');
  const old = new Map(before.facts.map((fact) => [fact.label, fact.values.join('\n')]));
  const gone = before.facts.filter(({ label }) => !facts.some((fact) => fact.label === label));
  return [...facts, ...gone.map(({ label }) => ({ label, values: [] }))]
    .filter(({ label, values }) => (old.get(label) ?? '') !== values.join('\n'))
    .flatMap(({ label, values, brief = values }: Fact) => {
      if (values.length === 0) return [{ label: `${label} now`, value: 'none' }];
      if (brief.every((value) => eventText.includes(value))) return [];
      return [{ label: `${label} now`, value: brief.join(', ') }];
    });
}

/** Packs several details into a line where they fit, each label once. */
function packLines(details: readonly Labelled[]): string[] {
  const rows: Labelled[][] = [];
  for (const one of details) {
    const row = rows.at(-1);
    const fits = row && columnsOf(rowText([...row, one])) <= WIDTH - 6;
    if (fits && !row.some(({ label }) => label === one.label)) row.push(one);
    else rows.push([one]);
  }
  return rows.flatMap((row) => wrapLines(rowText(row), 6, WIDTH));
}

function rowText(row: readonly Labelled[]): string {
  return row.map(({ label, value }) => `${label}: ${unambiguous(value)}`).join('; ');
}

function humanTime(stored: Step['stored']): string {
  return printableLine(timeOf(stored).replace('T', ' '));
}

/** Returns a value in quotes if it could otherwise pass for several details. */
function unambiguous(value: string): string {
  return /;|^"/.test(value) ? quoted(value) : value;
}
