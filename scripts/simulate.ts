import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { INVARIANTS } from '../simulation/invariants/invariants.ts';
import { MUTATIONS, MutatedCopy } from '../simulation/mutations.ts';
import { countOfSteps, everyStep, withoutFaults } from '../simulation/plan/every-step.ts';
import { makePlan } from '../simulation/plan/make-plan.ts';
import { parsePlan } from '../simulation/plan/parse-plan.ts';
import type { Plan } from '../simulation/plan/plan.ts';
import { storyOf, summary, violationReport } from '../simulation/report.ts';
import { recordRun } from '../simulation/run-record.ts';
import { type RunHistory, Simulators } from '../simulation/simulators.ts';
import { Tally } from '../simulation/tally.ts';
import { readOptions, wholeNumber } from '../src/operations/command/arguments.ts';
import { runCommand, stopSignal, UsageError } from '../src/operations/command/command.ts';
import { say, warn } from '../src/operations/command/output.ts';
import { clock } from '../src/tools/clock.ts';
import { random } from '../src/tools/random.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';

const HELP = `Runs the code of the service in simulated clusters and embedded nodes with faults, and checks what must hold.

  npm run simulate -- --seeds N [--seed S] | --minutes M [--seed S] | --seed S | --plan FILE
  npm run simulate -- --every-step --seed S | --every-step --plan FILE

--seeds      number of histories
--minutes    histories until this time is over
--seed       the first seed; random if --seeds or --minutes are given without it. Alone: this one history
--plan       replays a saved plan
--every-step runs the history without its faults, then once for each step of each node, which crashes after it; for an
             embedded node also with a power cut after it
--shrink     shrinks every history with a violation; without it, only the first of each kind
--save       writes the last shrunk plan, or with --seed and --plan alone the plan, into this file
--ignore     a kind of violation that is known: counted, but no failure; may be repeated
--mutation   puts a known defect into a copy: a patch below drills/mutations, by its name
--record     adds the totals of the run to this file, such as docs/simulation-runs.md
--trace      also prints calls and log lines
--processes  number of processes; by default one for each core
--json       one line of JSON for each history, then one for all
Exit codes: 0 nothing found, 1 a violation, or something never occurred in thousands of histories, 2 wrong usage.
`;

const OPTIONS = {
  seeds: { type: 'string' },
  minutes: { type: 'string' },
  seed: { type: 'string' },
  plan: { type: 'string' },
  shrink: { type: 'boolean', default: false },
  save: { type: 'string' },
  ignore: { type: 'string', multiple: true, default: [] as string[] },
  mutation: { type: 'string' },
  'every-step': { type: 'boolean', default: false },
  record: { type: 'string' },
  trace: { type: 'boolean', default: false },
  processes: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof readOptions<typeof OPTIONS>>;

await runCommand(HELP, async (args) => {
  const values = readOptions(args, OPTIONS);
  const unknown = values.ignore.find((kind) => !Object.hasOwn(INVARIANTS, kind));
  if (unknown !== undefined)
    throw new UsageError(`Unknown violation ${unknown}. Violations: ${Object.keys(INVARIANTS).join(', ')}.`);
  const mutation = values.mutation === undefined ? undefined : MUTATIONS.get(values.mutation);
  if (values.mutation !== undefined && !mutation)
    throw new UsageError(
      `Unknown mutation ${values.mutation}. Mutations: ${[...MUTATIONS.keys()].join(', ')}.`,
    );
  const { seeds, minutes, seed, plan } = values;
  if (plan !== undefined && (seeds ?? minutes ?? seed) !== undefined)
    throw new UsageError('--plan cannot be combined with seeds.');
  if ((seeds ?? minutes ?? seed ?? plan) === undefined)
    throw new UsageError('--seeds, --minutes, --seed or --plan is missing.');
  const isSingle = seeds === undefined && minutes === undefined;
  if (values['every-step'] && !isSingle)
    throw new UsageError('--every-step runs one history: give --seed or --plan alone.');
  if (values.record !== undefined && (isSingle || values.mutation !== undefined))
    throw new UsageError('--record needs --seeds or --minutes, without --mutation.');
  const isMany = !isSingle || values['every-step'];
  const processes = isMany ? (optional('processes', values) ?? availableParallelism()) : 1;
  await using copy = mutation && (await MutatedCopy.of(mutation));
  await using simulators = new Simulators({ processes, project: copy?.folder });
  if (values['every-step']) return await runEveryStep(simulators, values); // before they are disposed of
  return await (isSingle ? runOne(simulators, values) : runMany(simulators, values));
});

/** Runs one history with a trace. Resolves to the exit code. */
async function runOne(simulators: Simulators, values: Values): Promise<number> {
  const plan = await planOf(values);
  const result = await simulators.run(plan);
  const kinds = result.violations.map(({ kind }) => kind).filter((kind) => !values.ignore.includes(kind));
  const [violation] = kinds;
  const shrunk =
    violation !== undefined && values.shrink ? await simulators.shrink(plan, violation) : undefined;
  const shown = shrunk ? await simulators.run(shrunk.plan) : result;
  const { notes: _notes, ...facts } = shown;
  if (values.json) say(JSON.stringify({ ...facts, plan: shrunk?.plan ?? plan }));
  else if (violation !== undefined)
    say(violationReport(shrunk?.plan ?? plan, shown, { isComplete: values.trace }));
  else say(`${storyOf(shown, { isComplete: values.trace })}\n\nNothing found. Hash ${shown.hash}.`);
  if (values.save !== undefined) await savePlan(values.save, shrunk?.plan ?? plan);
  return violation === undefined ? 0 : 1;
}

async function runMany(simulators: Simulators, values: Values): Promise<number> {
  const first = values.seed === undefined ? randomSeed() : number('seed', values);
  const total = optional('seeds', values);
  const end = clock.monotonic() + (optional('minutes', values) ?? Infinity) * 60_000;
  if (!values.json) say(`First seed: ${first}`);
  const seeds = numbersFrom(first, total ?? Infinity);
  const run = (onResult: OnResult): Promise<void> =>
    simulators.runSeeds(seeds, (history) => onResult(history) && clock.monotonic() < end);
  return await runTallied(simulators, values, { first, total, run });
}

/** Runs a history without faults, then with a crash after each step of each host. */
async function runEveryStep(simulators: Simulators, values: Values): Promise<number> {
  const plan = withoutFaults(await planOf(values));
  const { hostSteps } = await simulators.run(plan);
  const total = countOfSteps(plan, hostSteps);
  if (!values.json) say(`Steps of the nodes: ${hostSteps.join(', ')}`);
  const run = (onResult: OnResult): Promise<void> =>
    simulators.runPlans(everyStep(plan, hostSteps), onResult);
  return await runTallied(simulators, values, { first: plan.seed, total, run });
}

/** Returns false when no more histories are wanted. */
type OnResult = (history: RunHistory) => boolean;

type Run = {
  readonly first: number;
  readonly total: number | undefined;
  readonly run: (onResult: OnResult) => Promise<void>;
};

/** Runs histories, and prints what occurred in them. Resolves to the exit code. */
async function runTallied(
  simulators: Simulators,
  values: Values,
  { first, total, run }: Run,
): Promise<number> {
  const tally = new Tally(values.ignore, { isRandom: !values['every-step'] });
  using bars = new ProgressBars();
  const stop = stopSignal('The simulation was stopped.');
  const begun = clock.monotonic();
  await run((history) => {
    tally.add(history);
    bars.at('histories', tally.histories, total);
    const { seed, hash, steps, events, violations } = history.result;
    if (values.json) say(JSON.stringify({ seed, hash, steps, events, violations }));
    return !stop.aborted;
  });
  bars.end();
  const seconds = (clock.monotonic() - begun) / 1000;
  if (!stop.aborted) await reportBad(simulators, tally, values);
  const { histories, steps, counts, missing, bad, cpuMs } = tally;
  const cpuSeconds = cpuMs / 1000;
  if (values.json)
    say(JSON.stringify({ first, histories, steps, cpuSeconds, counts, missing, bad: bad.length }));
  else say(summary(tally, seconds));
  if (values.record !== undefined) {
    const at = clock.date().toISOString();
    recordRun(values.record, { at, first, histories, bad: bad.length, cpuSeconds });
  }
  return tally.isGood && !stop.aborted ? 0 : 1;
}

/** Shrinks and prints histories with violations: the first of each kind, or all. */
async function reportBad(simulators: Simulators, { bad }: Tally, values: Values): Promise<void> {
  const reported = new Set<string>();
  for (const { plan, kinds } of bad) {
    const kind = kinds.find((one) => !reported.has(one)) ?? (values.shrink ? kinds[0] : undefined);
    if (kind === undefined) continue;
    reported.add(kind);
    warn(`Shrinking seed ${plan.seed}, ${kind}`);
    const shrunk = await simulators.shrink(plan, kind);
    const result = await simulators.run(shrunk.plan);
    const { notes: _notes, ...facts } = result;
    if (values.json) say(JSON.stringify({ ...facts, plan: shrunk.plan }));
    else
      say(
        `\nSeed ${plan.seed}, ${kind}, shrunk in ${shrunk.runs} runs\n${violationReport(shrunk.plan, result, { isComplete: values.trace })}\n`,
      );
    if (values.save !== undefined) await savePlan(values.save, shrunk.plan);
  }
}

async function planOf(values: Values): Promise<Plan> {
  return values.plan === undefined ? makePlan(number('seed', values)) : await readPlan(values.plan);
}

async function readPlan(file: string): Promise<Plan> {
  const text = await readFile(file, 'utf8');
  try {
    return parsePlan(text);
  } catch (error) {
    throw new UsageError(`${file} is not a plan: ${(error as Error).message}`);
  }
}

async function savePlan(file: string, plan: Plan): Promise<void> {
  await writeFile(file, `${JSON.stringify(plan, null, 2)}\n`);
}

function number(name: 'seed' | 'seeds' | 'minutes' | 'processes', values: Values): number {
  const found = wholeNumber(values[name] ?? '');
  if (found === undefined) throw new UsageError(`--${name} must be a whole number from 1.`);
  return found;
}

function optional(name: 'seeds' | 'minutes' | 'processes', values: Values): number | undefined {
  return values[name] === undefined ? undefined : number(name, values);
}

function randomSeed(): number {
  return 1 + Math.floor(random.fraction() * 2 ** 31);
}

function* numbersFrom(first: number, count: number): Generator<number> {
  for (let index = 0; index < count; index++) yield first + index;
}
