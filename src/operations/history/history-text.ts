import { type Fact, shortDigest } from '../../domain/description.ts';
import { actorOf, correlationOf, timeOf } from './history-metadata.ts';
import type { Step } from './stream-history.ts';

/** Columns of the output; only longer words exceed them. */
const WIDTH = 100;

/** Formats one event for a person; `before` is the previous step. */
export function stepText(step: Step, before: Step | undefined): string {
  const { stored, fault, description, state } = step;
  const correlation = correlationOf(stored);
  const isNews = correlation !== '' && (!before || correlationOf(before.stored) !== correlation);
  const details = description.details.map(({ label, value, digest }) => ({
    label,
    value: digest ? shortDigest(value) : value,
  }));
  return [
    `#${stored.revision}  ${humanTime(stored)}  ${printable(actorOf(stored))}  → ${state.status}`,
    ...(fault === undefined ? [] : wrapLines(`!!! BROKEN: ${fault}.`, 4)),
    ...wrapLines(description.sentence, 4),
    ...packLines(details),
    ...(isNews ? packLines([{ label: 'correlation', value: correlation }]) : []),
    ...packLines(changes(step, before)),
  ].join('\n');
}

/** Formats the state after a step for a person. */
export function stateText(name: string, { stored, fault, description, state, facts }: Step): string {
  const last = `#${stored.revision} ${description.sentence}`;
  const rows: readonly Fact[] = [
    { label: 'status', values: [state.status] },
    ...facts,
    { label: 'last event', values: [last, `by ${actorOf(stored)}`] },
    ...(fault === undefined ? [] : [{ label: '!!! BROKEN', values: [`the last event: ${fault}`] }]),
  ];
  const width = Math.max(...rows.map(({ label }) => label.length)) + 4;
  const lines = rows.flatMap(({ label, values }) => {
    const [first = '', ...others] = (values.length > 0 ? values : ['none']).flatMap((v) =>
      wrapLines(v, width),
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
  const count = `${events.toLocaleString('en')} ${events === 1 ? 'event' : 'events'}`;
  const text =
    status === 'deleted'
      ? `${name} was deleted after ${count}: nobody is shown it any more, but its history stays.`
      : `${name} is ${status} after ${count}.`;
  return wrapLines(`${text}${isWhole ? ' Every hash fits.' : ''}`, 0).join('\n');
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
    const fits = row && rowText([...row, one]).length <= WIDTH - 6;
    if (fits && !row.some(({ label }) => label === one.label)) row.push(one);
    else rows.push([one]);
  }
  return rows.flatMap((row) => wrapLines(rowText(row), 6));
}

function rowText(row: readonly Labelled[]): string {
  return row.map(({ label, value }) => `${label}: ${value}`).join('; ');
}

function humanTime(stored: Step['stored']): string {
  return timeOf(stored).replace('T', ' ');
}

/** Wraps words into indented lines; all but the first have two more columns. */
function wrapLines(text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of printable(text).split(' ')) {
    const room = WIDTH - indent - (lines.length > 0 ? 2 : 0);
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((part, index) => ' '.repeat(indent + (index > 0 ? 2 : 0)) + part);
}

/** Escapes characters that would move the cursor or change the direction of text: clients may send any. */
function printable(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, (odd) => `\\u{${odd.codePointAt(0)?.toString(16)}}`);
}
