import type { EventLog } from '../../event-log/event-log.ts';
import { openLog } from '../../service/backends/open-log.ts';
import { momentOf, onlyPositional, readArguments, wholeNumber } from '../command/arguments.ts';
import { refused, UsageError } from '../command/command.ts';
import { assertEnginesOfService, type EngineSettings } from '../command/service-engines.ts';
import { depositsWith } from '../search/deposits-with.ts';
import { termIn } from '../search/search-term.ts';
import { stateJson, stepJson } from './history-json.ts';
import { timeOf } from './history-metadata.ts';
import { closingText, stateText, stepText } from './history-text.ts';
import { HistoryVerdict } from './history-verdict.ts';
import { type Step, type Subject, subjectOf } from './stream-history.ts';

/** Forms of an argument that the command accepts besides a search term. */
const SUBJECTS = ['the number of a deposit', 'client:NAME', 'collection:NAME', 'person:NAME'];

/** Printers of the requested lines, and of warnings. */
export type Output = { readonly say: (line: string) => void; readonly warn: (line: string) => void };

/** Prints one or more histories according to the arguments. Resolves to the exit code. */
export async function printHistory(args: string[], config: EngineSettings, output: Output): Promise<number> {
  const { values, positionals } = readArguments(args, { at: { type: 'string' }, json: { type: 'boolean' } });
  const what = onlyPositional(positionals, 'ID, client:NAME, collection:NAME or person:NAME');
  const named = subjectNamed(what);
  const term = named ? undefined : termIn(what, SUBJECTS);
  const moment = values.at === undefined ? undefined : momentIn(values.at);
  const note = await assertEnginesOfService(config, 'eventLog', ...(term ? (['archiveStore'] as const) : []));
  if (note !== undefined) output.warn(note);
  await using log = await openLog(config, { readOnly: true, mustExist: true });
  let exitCode = 0;
  const onUnread = (problem: string): void => {
    output.warn(problem);
    exitCode = 1;
  };
  const ids = term ? await depositsWith(log, config, term, onUnread) : [];
  const subjects = named ? [named] : ids.map((id) => subjectOf.deposit(`${id}`));
  if (subjects.length === 0) throw refused('NO_HISTORY', `No deposit has ${what}.`);
  if (subjects.length > 1)
    output.warn(`${what} is in ${subjects.length} deposits: ${subjects.map(({ name }) => name).join(', ')}.`);
  for (const subject of subjects) {
    const print = moment
      ? printState(log, subject, output, moment, values.json)
      : printAll(log, subject, output, values.json);
    const problems = await print.then(
      (verdict) => verdict.problems,
      (error) => problemsOf(error, subjects),
    );
    for (const problem of problems) output.warn(problem);
    if (problems.length > 0) exitCode = 1;
  }
  return exitCode;
}

/** Returns the refusal of one history of several, so that the others are printed. */
function problemsOf(
  error: Error & { readonly code?: string },
  { length }: readonly Subject[],
): readonly string[] {
  if (length === 1 || error.code !== 'NO_HISTORY') throw error;
  return [error.message];
}

async function printAll(
  log: EventLog,
  subject: Subject,
  output: Output,
  json = false,
): Promise<HistoryVerdict> {
  const verdict = new HistoryVerdict(subject.name);
  let last: Step | undefined;
  let events = 0;
  for await (const step of subject.steps(log)) {
    output.say(json ? stepJson(step, last) : `${stepText(step, last)}\n`);
    verdict.see(step);
    last = step;
    events += 1;
  }
  if (!last) throw unknown(subject);
  if (!json) output.say(closingText(subject.name, last, events, verdict.fits));
  return verdict;
}

async function printState(
  log: EventLog,
  subject: Subject,
  output: Output,
  moment: Moment,
  json = false,
): Promise<HistoryVerdict> {
  const verdict = new HistoryVerdict(subject.name);
  let [shown, later]: (Step | undefined)[] = [];
  for await (const step of subject.steps(log)) {
    if (moment.isBefore(step)) {
      later = step;
      break;
    }
    verdict.see(step);
    shown = step;
    if (step.stored.revision === moment.revision) break; // later events, readable or not, do not affect this moment
  }
  if (!shown) throw later ? tooEarly(subject, later) : unknown(subject);
  const { revision } = shown.stored;
  if (moment.revision !== undefined && revision < moment.revision) {
    if (!later) throw noSuchEvent(subject, moment.revision, revision);
    verdict.miss(moment.revision); // cut out
  }
  output.say(json ? stateJson(shown) : stateText(subject.name, shown));
  return verdict;
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

/** Returns the subject that the text names; `undefined` if deposits with this value must be searched for. */
function subjectNamed(text: string): Subject | undefined {
  const [, kind, name = ''] = /^(client|collection|person):(.+)$/s.exec(text) ?? [];
  if (kind !== undefined) return subjectOf[kind as 'client' | 'collection' | 'person'](name); // by the pattern
  return wholeNumber(text) === undefined ? undefined : subjectOf.deposit(text);
}

function tooEarly({ name }: Subject, { stored }: Step): Error {
  return refused('NO_HISTORY', `${name} did not exist yet: its history begins at ${timeOf(stored)}.`);
}

function noSuchEvent({ name }: Subject, wanted: number, last: number): Error {
  return refused('NO_HISTORY', `${name} has no event ${wanted}: its last one is ${last}.`);
}

function unknown({ name }: Subject): Error {
  return refused('NO_HISTORY', `${name} not found.`);
}
