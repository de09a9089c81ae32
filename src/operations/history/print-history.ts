import type { EventLog } from '../../event-log/event-log.ts';
import { openExistingLog } from '../../service/backends/open-backends.ts';
import { momentOf, wholeNumber } from '../command/argument-values.ts';
import { onlyPositional, readArguments, refused, UsageError } from '../command/command.ts';
import { assertEnginesOfService, type EngineSettings } from '../command/service-engines.ts';
import { stateJson, stepJson } from './history-json.ts';
import { timeOf } from './history-metadata.ts';
import { closingText, stateText, stepText } from './history-text.ts';
import {
  clientSubject,
  collectionSubject,
  depositSubject,
  type Step,
  type Subject,
} from './stream-history.ts';

/** Printers of the requested lines, and of warnings. */
export type Output = { readonly say: (line: string) => void; readonly warn: (line: string) => void };

/** Prints a history according to the arguments. Resolves to the exit code. */
export async function printHistory(args: string[], config: EngineSettings, output: Output): Promise<number> {
  const { values, positionals } = readArguments(args, { at: { type: 'string' }, json: { type: 'boolean' } });
  const subject = subjectOf(onlyPositional(positionals, 'ID, client:NAME or collection:NAME'));
  const moment = values.at === undefined ? undefined : momentIn(values.at);
  const note = await assertEnginesOfService(config, 'eventLog');
  if (note !== undefined) output.warn(note);
  await using log = await openExistingLog(config, { readOnly: true });
  return moment
    ? await tellState(log, subject, output, moment, values.json)
    : await tellAll(log, subject, output, values.json);
}

async function tellAll(log: EventLog, subject: Subject, output: Output, json = false): Promise<number> {
  const broken: string[] = [];
  let last: Step | undefined;
  let events = 0;
  for await (const step of subject.steps(log)) {
    output.say(json ? stepJson(step, last) : `${stepText(step, last)}\n`);
    if (step.fault !== undefined) broken.push(`#${step.stored.revision}`);
    last = step;
    events += 1;
  }
  if (!last) throw unknown(subject);
  const exitCode = verdict(subject, output, broken);
  if (!json) output.say(closingText(subject.name, last, events, exitCode === 0));
  return exitCode;
}

async function tellState(
  log: EventLog,
  subject: Subject,
  output: Output,
  moment: Moment,
  json = false,
): Promise<number> {
  const broken: string[] = [];
  let [shown, later]: (Step | undefined)[] = [];
  for await (const step of subject.steps(log)) {
    if (moment.isBefore(step)) {
      later = step;
      break;
    }
    if (step.fault !== undefined) broken.push(`#${step.stored.revision}`);
    shown = step;
    if (step.stored.revision === moment.revision) break; // later events, readable or not, do not affect this moment
  }
  if (!shown) throw later ? tooEarly(subject, later) : unknown(subject);
  const { revision } = shown.stored;
  if (moment.revision !== undefined && revision < moment.revision) {
    if (!later) throw noSuchEvent(subject, moment.revision, revision);
    broken.push(`#${moment.revision}`); // cut out
  }
  output.say(json ? stateJson(shown) : stateText(subject.name, shown));
  return verdict(subject, output, broken);
}

/** The end of the printed history. */
type Moment = { readonly revision?: number; readonly isBefore: (step: Step) => boolean };

function momentIn(text: string): Moment {
  if (/^\d{1,15}$/.test(text)) {
    const revision = Number(text);
    return { revision, isBefore: ({ stored }) => stored.revision > revision };
  }
  const time = momentOf(text);
  if (time !== undefined) return { isBefore: ({ stored }) => Date.parse(timeOf(stored)) > time };
  throw new UsageError(`--at ${text} is neither a revision nor a time such as 2026-03-01T10:00:00Z.`);
}

function subjectOf(text: string): Subject {
  const [, kind, name = ''] = /^(client|collection):(.+)$/s.exec(text) ?? [];
  if (kind === 'client') return clientSubject(name);
  if (kind === 'collection') return collectionSubject(name);
  if (wholeNumber(text) !== undefined) return depositSubject(text);
  throw new UsageError(`${text} is neither the number of a deposit nor client:NAME nor collection:NAME.`);
}

function verdict({ name }: Subject, { warn }: Output, broken: readonly string[]): number {
  if (broken.length === 0) return 0;
  warn(
    `THE HISTORY OF ${name.toUpperCase()} IS BROKEN at ${broken.join(', ')}: it is not what was appended.`,
  );
  return 1;
}

function tooEarly({ name }: Subject, { stored }: Step): Error {
  return refused('NO_HISTORY', `${name} did not exist yet: its history begins at ${timeOf(stored)}.`);
}

function noSuchEvent({ name }: Subject, wanted: number, last: number): Error {
  return refused('NO_HISTORY', `${name} has no event ${wanted}: its last one is ${last}.`);
}

function unknown({ name }: Subject): Error {
  return refused('NO_HISTORY', `There is no ${name.replace(/^./, (letter) => letter.toLowerCase())}.`);
}
