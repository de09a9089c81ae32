import { seeded } from '../testing/processes/seeded-random.ts';
import type { Finding } from './frame/drill.ts';
import { type Choice, FailingIoRun, type Failure } from './io/failing-io-run.ts';
import { WatchedIo } from './io/io-control.ts';
import { chosenSubjects, type Subject, subjectNames } from './io/io-subjects.ts';
import { runWatchedDrill } from './io/watched-drill.ts';
import { scratchFolder } from './service/drilled-service.ts';

const HELP = `Has the n-th open, read, write, sync, rename, unlink, truncate or mkdir fail, for every n until there are no more: of the
service (its log, archives, views, checkpoints and uploads), and of backup, restore, migrate and rebuild. Each starts from
the same data folder, once for each n and kind of failure; a read or write fails as a whole or in its second half. Then
the same runs without failures, and everything must be there, once, and proven.

  node drills/failing-io.ts [--only SUBJECT] [--kind KIND] [--at N[-M]] [--samples N] [--seed N]

--only     one of ${subjectNames.join(', ')}
--kind     one kind of calls, or with /torn those that fail in their second half
--at       this n alone, or those from N to M
--samples  this many calls of each subject, by chance (0: all of them)
`;

const FAILURES: readonly Failure[] = [
  { kind: 'open', error: 'EIO', isTorn: false },
  { kind: 'read', error: 'EIO', isTorn: false },
  { kind: 'read', error: 'EIO', isTorn: true },
  { kind: 'write', error: 'ENOSPC', isTorn: false },
  { kind: 'write', error: 'EIO', isTorn: true },
  { kind: 'sync', error: 'EIO', isTorn: false },
  { kind: 'rename', error: 'EIO', isTorn: false },
  { kind: 'unlink', error: 'EIO', isTorn: false },
  { kind: 'truncate', error: 'EIO', isTorn: false },
  { kind: 'mkdir', error: 'ENOSPC', isTorn: false },
];

const OPTIONS = {
  only: { type: 'string' },
  kind: { type: 'string' },
  at: { type: 'string' },
  samples: { full: 0, short: 2, least: 0 },
  seed: 1,
} as const;

await runWatchedDrill(HELP, OPTIONS, async (values) => {
  return await drill(chosenSubjects(values.only), {
    kind: values.kind,
    range: rangeOf(values.at),
    samples: values.samples,
    random: seeded(values.seed),
  });
});

function rangeOf(at: string | undefined): readonly [number, number] {
  const [first = 1, last = at === undefined ? Infinity : first] = at?.split('-').map(Number) ?? [];
  return [first, last];
}

async function drill(subjects: readonly Subject[], choice: Choice): Promise<Finding> {
  await using scratch = await scratchFolder('failing-io');
  using io = new WatchedIo();
  const run = new FailingIoRun(scratch.path, io);
  const onUncaught = (error: Error): void => void run.broken.push(`${run.at}: not caught: ${error.stack}`);
  process.on('uncaughtException', onUncaught);
  using _watch = new DisposableStack();
  _watch.defer(() => process.off('uncaughtException', onUncaught)); // else an error of the drill itself is not reported
  const failures = FAILURES.filter(
    ({ kind, isTorn }) => choice.kind === undefined || choice.kind === (isTorn ? `${kind}/torn` : kind),
  );
  for (const subject of subjects) {
    await run.prepare(subject);
    await run.failEach(failures, choice);
  }
  const names = subjects.map(({ name }) => name).join(', ');
  const extent = choice.samples > 0 || choice.range[1] < Infinity ? 'for some n' : 'for every n';
  return {
    tried: `The n-th call of each kind failed, ${extent}: ${run.failed} calls of ${run.calls} (${names}).`,
    held: 'Run again, each did what it is for: nothing acknowledged was lost, nothing was there twice, verify --all proved everything, no failed call was taken for damage.',
    broken: run.broken,
    numbers: { calls: run.calls, 'calls failed': run.failed, 'given up': run.givenUp },
  };
}
