import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { MUTATIONS, MutatedCopy, type Mutation } from '../simulation/mutations.ts';
import { Simulators } from '../simulation/simulators.ts';
import { UsageError } from '../src/operations/command/command.ts';
import { clock } from '../src/tools/clock.ts';
import { random } from '../src/tools/random.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';

const HELP = `Puts known defects into a copy of the project, one at a time, and looks whether each is found: by the simulation, or by
the command that its patch names. What a second guard covers must do no harm.

  node drills/mutations.ts [--only NAME]… [--seconds 300] [--harmless 300]

--only      these mutations alone: the patches below drills/mutations
--seconds   CPU seconds of histories, or seconds of a command, after which a defect counts as not found
--harmless  histories that a defect with a second guard must pass
`;

/** Upper bound of the seed of a defect's first history; each run has others. */
const MOST_SEEDS = 2 ** 31;

type Found = { readonly how: string; readonly isRight: boolean };

await runDrill(
  HELP,
  {
    only: { type: 'string', multiple: true },
    seconds: { full: 300, short: 60 },
    harmless: { full: 300, short: 20 },
  },
  async ({ only = [...MUTATIONS.keys()], seconds, harmless }) =>
    drill(only.map(mutationNamed), seconds, harmless),
);

async function drill(mutations: readonly Mutation[], seconds: number, harmless: number): Promise<Finding> {
  const broken: string[] = [];
  let found = 0;
  for (const mutation of mutations) {
    await using copy = await MutatedCopy.of(mutation);
    const { guard, name } = mutation;
    const { how, isRight } =
      guard.by === 'command'
        ? await failureOf(guard.command, copy, seconds)
        : await simulated(copy.folder, guard.by === 'simulation' ? { seconds } : { histories: harmless });
    printProgress(`${name}: ${how}`);
    const isExpected = guard.by === 'second guard' ? !isRight : isRight;
    if (!isExpected) broken.push(`${name}: ${how}.`);
    if (isRight) found += 1;
  }
  return {
    tried: `${mutations.length} known defects were put in, one at a time.`,
    held: `${found} were found, each within ${seconds} CPU seconds; the others do no harm because of a second guard.`,
    broken,
    numbers: { mutations: mutations.length, found },
  };
}

/** Runs histories in a copy until one has a violation, or the limit is reached. */
async function simulated(
  project: string,
  limit: { readonly seconds: number } | { readonly histories: number },
): Promise<Found> {
  await using simulators = new Simulators({ processes: availableParallelism(), project });
  const first = 1 + Math.floor(random.fraction() * MOST_SEEDS);
  let [histories, cpuMs, seed] = [0, 0, first];
  let kinds: string[] = [];
  await simulators.runSeeds(seedsFrom(first), ({ result, cpuMs: spent }) => {
    histories += 1;
    seed = result.seed;
    cpuMs += spent;
    kinds = [...new Set(result.violations.map(({ kind }) => kind))];
    if (kinds.length > 0) return false;
    return 'seconds' in limit ? cpuMs < limit.seconds * 1000 : histories < limit.histories;
  });
  const cost = `${histories} histories, ${(cpuMs / 1000).toFixed(1)} CPU s`;
  if (kinds.length === 0) return { how: `not found in ${cost}`, isRight: false };
  return { how: `${kinds.join(', ')} after ${cost}, seed ${seed}`, isRight: true };
}

/** Runs a command in a copy, where it has to fail, and again without the defect, where it must not. */
async function failureOf(command: string, copy: MutatedCopy, seconds: number): Promise<Found> {
  const begun = clock.monotonic();
  const code = await exitCodeOf(command, copy, seconds);
  const took = `${((clock.monotonic() - begun) / 1000).toFixed(0)} s`;
  if (code !== 1)
    return { how: `${command} ended with ${code ?? 'a time-out'} after ${took}`, isRight: false };
  await copy.repair();
  const without = await exitCodeOf(command, copy, seconds);
  if (without === 0) return { how: `${command} failed after ${took}`, isRight: true };
  return { how: `${command} fails without the defect, too`, isRight: false };
}

/** Resolves to `null` if the command took longer. */
async function exitCodeOf(
  command: string,
  { folder: cwd }: MutatedCopy,
  seconds: number,
): Promise<number | null> {
  const child = spawn(command, { cwd, shell: true, stdio: 'ignore', timeout: seconds * 1000 });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

function mutationNamed(name: string): Mutation {
  const mutation = MUTATIONS.get(name);
  if (mutation) return mutation;
  throw new UsageError(`Unknown mutation ${name}. Mutations: ${[...MUTATIONS.keys()].join(', ')}.`);
}

function* seedsFrom(first: number): Generator<number> {
  for (let seed = first; ; seed++) yield seed;
}
