import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { diskFoldersOf } from '../../simulation/disk/disk-folders.ts';
import { MUTATIONS, MutatedCopy, type Mutation } from '../../simulation/mutations.ts';
import type { Plan, PlannedDeposit } from '../../simulation/plan/plan.ts';
import { Simulators, startSimulator } from '../../simulation/simulators.ts';
import { jsonLines, runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

/** Histories of clusters, the last with views in SQLite, and, divisible by four, of embedded nodes. */
const SEEDS = [2, 3, 4, 12, 21];
const DEPOSIT: PlannedDeposit = {
  name: 'd1',
  at: 1000,
  node: 0,
  client: 0,
  archive: 'good',
  isKeyed: true,
  isTwofold: false,
  isFinal: true,
  isOrphan: false,
  pieces: 0,
  steps: [],
};
/** Three deposits, and the death of a node with reactors that has nothing to do with the defect. */
const PLAN: Plan = {
  seed: 7,
  composition: 'cluster',
  stuckAfter: 86_400_000,
  faults: [{ kind: 'crash', at: 9000, parameters: { host: 2, down: 300, seen: 1 } }],
  deposits: [DEPOSIT, { ...DEPOSIT, name: 'd2', isFinal: false }, { ...DEPOSIT, name: 'd3', at: 1500 }],
};

async function hashesOf(seeds: readonly number[]): Promise<Readonly<Record<number, string>>> {
  await using simulators = new Simulators({ processes: 1 });
  const hashes: Record<number, string> = {};
  await simulators.runSeeds(seeds, ({ plan, result }) => {
    hashes[plan.seed] = result.hash;
    return true;
  });
  return hashes;
}

test.serial(
  'a seed always gives the same history, in another process and after other histories',
  async (t) => {
    t.timeout(300_000);
    const hashes = await hashesOf(SEEDS);
    t.is(new Set(Object.values(hashes)).size, SEEDS.length);
    t.deepEqual(await hashesOf(SEEDS.toReversed()), hashes);
  },
);

test.serial('a simulator that ends within a history leaves no disk behind', async (t) => {
  t.timeout(300_000);
  const simulator = startSimulator();
  const end = once(simulator, 'exit');
  const pid = simulator.pid as number; // it was started
  for (let seed = 1; seed <= 1000; seed++) simulator.send({ kind: 'seed', seed });
  while (diskFoldersOf(pid).length === 0) await setTimeout(20);
  simulator.disconnect();
  t.deepEqual(await end, [0, null]);
  t.deepEqual(diskFoldersOf(pid), []);
});

test.serial('a history runs until everything has ended, and counts its events', async (t) => {
  t.timeout(300_000);
  await using simulators = new Simulators({ processes: 1 });
  const { violations, counts, notes = [], events } = await simulators.run(PLAN);
  t.deepEqual(violations, []);
  t.is(counts.eventTypes['DepositLoaded'], 2, 'the second deposit was not completed');
  t.is(counts.eventTypes['DepositCreated'], 3);
  t.deepEqual(counts.faults, { crash: 1 });
  t.is(
    Object.values(counts.crashPoints).reduce((sum, count) => sum + count, 0),
    1,
  );
  t.is(notes.filter(({ kind }) => kind === 'commit').length, events);
});

test.serial('a defect is found, its plan is reduced, and the reduced plan reproduces it', async (t) => {
  t.timeout(300_000);
  await using copy = await MutatedCopy.of(MUTATIONS.get('acknowledged-before-work') as Mutation);
  await using simulators = new Simulators({ processes: 1, project: copy.folder });
  const found = await simulators.run(KILLED_AT_WORK);
  t.true(found.violations.some(({ kind }) => kind === 'stuck'));
  const { plan } = await simulators.shrink(KILLED_AT_WORK, 'stuck');
  t.is(plan.deposits.length, 1);
  t.true(plan.faults.length < KILLED_AT_WORK.faults.length);
  const again = await simulators.run(plan);
  t.true(again.violations.some(({ kind }) => kind === 'stuck'));
  t.is((await simulators.run(plan)).hash, again.hash);
});

/** Both nodes with reactors die when one stores what it has found in an archive, after the puts of their starts. */
const KILLED_AT_WORK: Plan = {
  ...PLAN,
  faults: [
    ...PLAN.faults,
    ...[2, 3].map((host) => ({
      kind: 'crash-point' as const,
      at: 1_200,
      parameters: { host, call: 'put', moment: 'sent', skip: 0, down: 300, seen: 1 },
    })),
  ],
};

test.serial('the code without that defect finishes the work of a crashed node', async (t) => {
  t.timeout(300_000);
  await using simulators = new Simulators({ processes: 1 });
  const { violations, counts } = await simulators.run(KILLED_AT_WORK);
  t.deepEqual(violations, []);
  t.true((counts.crashPoints['put sent'] ?? 0) >= 1);
});

test.serial('npm run simulate saves a plan and replays it', async (t) => {
  t.timeout(300_000);
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'plan.json');
  await writeFile(file, JSON.stringify(PLAN));
  const ran = await runScript(folder, 'simulate', ['--plan', file, '--json', '--save', `${file}.again`]);
  t.is(ran.code, 0, ran.err);
  const { hash, plan } = JSON.parse(ran.out) as { hash: string; plan: Plan };
  t.deepEqual(plan, PLAN);
  t.deepEqual(JSON.parse(await readFile(`${file}.again`, 'utf8')), PLAN);
  const again = await runScript(folder, 'simulate', ['--plan', file]);
  t.true(again.out.endsWith(`Nothing found. Hash ${hash}.\n`));
});

test.serial('npm run simulate runs seeds in several processes, and refuses unknown options', async (t) => {
  t.timeout(300_000);
  const ran = await runScript(tmpdir(), 'simulate', [
    '--seeds',
    '2',
    '--seed',
    '1',
    '--ignore',
    'wrong-end',
    '--json',
  ]);
  const lines = jsonLines(ran.out);
  for (const seed of [1, 2])
    t.true(
      lines.some((line) => line['seed'] === seed),
      `seed ${seed}`,
    );
  t.is(lines.at(-1)?.['histories'], 2);
  for (const wrong of [
    ['--seeds', '0'],
    ['--ignore', 'all'],
    ['--mutation', 'none'],
    ['--json'],
    ['--plan', 'x', '--seed', '1'],
  ])
    t.is((await runScript(tmpdir(), 'simulate', wrong)).code, 2, wrong.join(' '));
});

test.serial('an embedded node loses nothing acknowledged when its machine loses power', async (t) => {
  t.timeout(300_000);
  const cut = (call: string, skip: number) => ({
    kind: 'disk-crash-point' as const,
    at: 1005,
    parameters: { call, skip, isPowerCut: true, down: 300 },
  });
  for (const call of ['log commit', 'store commit', 'file sync', 'file name', 'file write', 'view save']) {
    await using simulators = new Simulators({ processes: 1 });
    const plan: Plan = { ...PLAN, composition: 'embedded', faults: [cut(call, 0), cut(call, 3)] };
    const { violations, counts, notes = [] } = await simulators.run(plan);
    t.deepEqual(violations, [], call);
    t.true((counts.crashPoints[`${call} done`] ?? 0) > 0, call);
    t.true(notes.some(({ text }) => text.startsWith('power cut')));
    t.is(counts.eventTypes['DepositLoaded'], 2);
  }
});

/** One read after the other fails, of all parts of a disk: while the node serves, and when it starts. */
const FAILED_READS: Plan = {
  ...PLAN,
  composition: 'embedded',
  faults: ['event-log', 'archives', 'views', 'reactors', 'event-log', 'archives', 'views'].map(
    (part, index) => {
      const parameters = { part, skip: index % 3, isAtStart: index === 3, down: 300 };
      return { kind: 'failed-read' as const, at: 1000 + index * 400, parameters };
    },
  ),
  deposits: Array.from({ length: 8 }, (_, index) => ({
    ...DEPOSIT,
    name: `d${index + 1}`, // every second archive is large
    at: 1000 + index * 300,
  })),
};

test.serial('an embedded node continues when its disk fails one read after the other', async (t) => {
  t.timeout(300_000);
  await using simulators = new Simulators({ processes: 1 });
  const { violations, notes = [] } = await simulators.run(FAILED_READS);
  t.deepEqual(violations, []);
  const failed = notes.filter(({ text }) => text.startsWith('a read of /data/'));
  for (const part of ['event-log', 'archives', 'views', 'reactors'])
    t.true(
      failed.some(({ text }) => text.startsWith(`a read of /data/${part}`)),
      part,
    );
  await using copy = await MutatedCopy.of(MUTATIONS.get('failed-read-not-repeated') as Mutation);
  await using defective = new Simulators({ processes: 1, project: copy.folder });
  let isFound = false;
  for (let seed = 1; seed < 20 && !isFound; seed += 1) {
    const { violations: found } = await defective.run({ ...FAILED_READS, seed });
    isFound = found.some(({ kind }) => kind === 'surprise');
  }
  t.true(isFound);
});

test.serial('a paused node whose start fails on a full disk is started again', async (t) => {
  t.timeout(300_000);
  await using simulators = new Simulators({ processes: 1 });
  let failedAfterPause = 0;
  for (let offset = 0.5; offset <= 10; offset += 0.5) {
    const faults: Plan['faults'] = [
      { kind: 'crash', at: 5000, parameters: { host: 0, down: 500, seen: 1 } },
      { kind: 'full-disk', at: 5200, parameters: { time: 1000, part: 'all' } },
      { kind: 'pause', at: 5500 + offset, parameters: { host: 0, time: 5000 } },
    ];
    const deposits = [DEPOSIT, { ...DEPOSIT, name: 'd2', at: 5600 }];
    const plan: Plan = { ...PLAN, composition: 'embedded', faults, deposits };
    const { violations, notes = [] } = await simulators.run(plan);
    t.deepEqual(violations, []);
    const failure = notes.find(({ text }) => text.includes('cannot go on'));
    if (failure && failure.at >= 10_500 + offset) failedAfterPause += 1;
  }
  t.true(failedAfterPause > 0, 'the pause never came between the refused write and the end of the start');
});

test.serial('a node that is not ready at the end is a violation', async (t) => {
  t.timeout(300_000);
  await using simulators = new Simulators({ processes: 1 });
  const plan = { ...PLAN, faults: [] };
  const { hostSteps } = await simulators.run(plan);
  const stepCrash = { host: 1, step: Math.floor((hostSteps[1] ?? 0) / 2), down: 1e9 };
  const { violations } = await simulators.run({ ...plan, stepCrash });
  t.deepEqual(violations, [
    { kind: 'surprise', text: 'http-2 is not ready, although nothing has been wrong for long' },
  ]);
});

test.serial('a node that crashes at the end of a history is awaited', async (t) => {
  t.timeout(300_000);
  await using simulators = new Simulators({ processes: 1 });
  const plan: Plan = { ...PLAN, composition: 'embedded', faults: [] };
  const { hostSteps } = await simulators.run(plan);
  const stepCrash = { host: 0, step: hostSteps[0] ?? 0, down: 300, isPowerCut: true };
  const { violations, notes = [] } = await simulators.run({ ...plan, stepCrash });
  t.deepEqual(violations, []);
  t.is(notes.filter(({ text }) => text === 'both-1 is ready').length, 2);
});

test.serial('a pause ends when the paused process crashes', async (t) => {
  t.timeout(300_000);
  await using simulators = new Simulators({ processes: 1 });
  const faults: Plan['faults'] = [
    { kind: 'pause', at: 5000, parameters: { host: 0, time: 15_000 } },
    { kind: 'crash', at: 5500, parameters: { host: 0, down: 500, seen: 1 } },
  ];
  const { notes = [] } = await simulators.run({ ...PLAN, composition: 'embedded', faults });
  const readyAt = notes.findLast(({ text }) => text.endsWith('is ready'))?.at ?? Infinity;
  t.true(readyAt > 6000 && readyAt < 6500, `${readyAt}`);
});

for (const [mutation, violation] of [
  ['log-not-synced', 'commit-lost'],
  ['object-name-not-synced', 'object-lost'],
  ['folder-name-not-synced', 'object-lost'],
  ['piece-not-synced', 'piece-lost'],
] as const) {
  test.serial(`power cuts find the defect ${mutation} in an embedded node`, async (t) => {
    t.timeout(300_000);
    await using copy = await MutatedCopy.of(MUTATIONS.get(mutation) as Mutation);
    await using simulators = new Simulators({ processes: 1, project: copy.folder });
    const found = new Set<string>();
    const faults = Array.from({ length: 6 }, (_, index) => ({
      kind: 'power-cut' as const,
      at: 1000 + index * 997,
      parameters: { down: 200 },
    }));
    const deposits = Array.from({ length: 60 }, (_, index) => ({
      ...DEPOSIT,
      name: `d${index + 100}`,
      pieces: mutation === 'piece-not-synced' ? 3 : 0,
      at: 950 + index * 99,
    }));
    for (let seed = 1; seed < 20 && !found.has(violation); seed += 1) {
      const { violations } = await simulators.run({
        ...PLAN,
        seed,
        composition: 'embedded',
        faults,
        deposits,
      });
      for (const { kind } of violations) found.add(kind);
    }
    t.true(found.has(violation), [...found].join(', '));
  });
}
