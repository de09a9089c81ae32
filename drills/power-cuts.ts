import type { Finding } from './frame/drill.ts';
import { CUTS } from './io/cut-folder.ts';
import { WatchedIo } from './io/io-control.ts';
import { chosenSubjects, type Subject, subjectNames } from './io/io-subjects.ts';
import { type ChosenCuts, PowerCutRun } from './io/power-cut-run.ts';
import { runWatchedDrill } from './io/watched-drill.ts';
import { scratchFolder } from './service/drilled-service.ts';

const HELP = `Writes down all that the service (its log, archives, views, checkpoints and uploads) and backup, restore, migrate and
rebuild change on the disk, and makes the folder that a power cut after each of these calls leaves: what was synced is
there; what was not is lost, there in part, or there whole. Then the same runs on that folder, and everything that was
acknowledged must be there, once, and proven. A name counts as synced after a sync of its folder only.

  node drills/power-cuts.ts [--only SUBJECT] [--at N] [--cut CUT] [--samples N] [--seed N]

--only     one of ${subjectNames.join(', ')}
--at       after this call alone
--cut      ${CUTS.join(', ')}
--samples  this many power cuts of each subject, by chance, and those after its last call (0: all of them)
`;

const OPTIONS = {
  only: { type: 'string' },
  at: { type: 'string' },
  cut: { type: 'string' },
  samples: { full: 0, short: 2, least: 0 },
  seed: 1,
} as const;

await runWatchedDrill(HELP, OPTIONS, async (values) => {
  return await drill(chosenSubjects(values.only), {
    at: values.at === undefined ? undefined : Number(values.at),
    cut: values.cut,
    samples: values.samples,
    seed: values.seed,
  });
});

async function drill(subjects: readonly Subject[], choice: ChosenCuts): Promise<Finding> {
  await using scratch = await scratchFolder('power-cuts');
  using io = new WatchedIo();
  const run = new PowerCutRun(scratch.path, io);
  for (const subject of subjects) await run.cutEach(subject, choice);
  const names = subjects.map(({ name }) => name).join(', ');
  const extent = choice.samples === 0 ? 'each' : 'some';
  return {
    tried: `The power was cut after ${extent} of ${run.calls} calls (${names}): ${run.cuts} times, which left ${run.states} different folders.`,
    held: 'Started again, each recovered: nothing acknowledged was lost, nothing was there twice, and verify --all proved everything.',
    broken: run.broken,
    numbers: { calls: run.calls, cuts: run.cuts, states: run.states },
  };
}
