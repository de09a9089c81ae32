import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { endProcess } from '../testing/processes/end-process.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { runScript } from '../testing/processes/run-script.ts';
import { seeded } from '../testing/processes/seeded-random.ts';
import { MixedLoad } from './clients/mixed-load.ts';
import { promisesKept } from './clients/promises-kept.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { drillClient, drilledFolder } from './service/drilled-service.ts';
import { everythingVerified } from './service/everything-verified.ts';
import { SERVICE_MAIN, ServiceProcess } from './service/service-process.ts';
import { startWithoutSnapshots } from './service/unusable-snapshots.ts';

const HELP = `Kills a service under load at random moments while it stores a snapshot of its views. Then removes the views again and
again, as on a new node, and kills the service at random moments while it begins with the snapshot. After each kill it has to
start; in the end the views have to be those of the log. At last a new node of a release with a newer projection, and one
whose store has lost the snapshot, have to say so and to fill their views from the log.

  node drills/new-nodes-killed.ts [--kills 15] [--seed 1]
`;

/** The size 1 makes a snapshot of any views. */
const ENV = { DEPOSIT_VIEW_SNAPSHOT_SIZE: '1', DEPOSIT_LOG_LEVEL: 'info' };
const [STORED, BEGUN] = ['snapshot of the views stored', 'views begin with a snapshot'];
/** The longest times in milliseconds from the beginning of a snapshot, or of its use, to the kill. */
const [LONGEST_STORING, LONGEST_BEGINNING] = [400, 60];
/** Deposits before the first kill. */
const DEPOSITS = 30;

await runDrill(HELP, { kills: { full: 15, short: 3 }, seed: 1 }, ({ kills, seed }) =>
  drill(kills, seeded(seed)),
);

async function drill(kills: number, random: () => number): Promise<Finding> {
  await using folder = await drilledFolder('new-nodes');
  const { dataDir } = folder;
  const [port, broken] = [await freePort(), [] as string[]];
  const client = drillClient(`http://127.0.0.1:${port}`);
  const load = new MixedLoad(client, { writers: 2 });
  {
    await using _filling = await ServiceProcess.start(dataDir, port, { DEPOSIT_VIEW_SNAPSHOT_SIZE: '0' });
    while (load.ledger.acknowledged < DEPOSITS) await pause(50);
  }
  const storing = await killRepeatedly(kills, LONGEST_STORING, { dataDir, port, random });
  await load.stop();
  await using last = await ServiceProcess.start(dataDir, port, ENV);
  const recorded = await recordedSnapshot(last, dataDir);
  if (recorded === 0) broken.push('No snapshot was recorded.');
  const kept = await promisesKept(load.ledger, client, dataDir);
  await last.end('SIGTERM');
  const beginning = await killRepeatedly(kills, LONGEST_BEGINNING, { dataDir, port, random, isNew: true });
  removeViews(dataDir);
  await using newest = await ServiceProcess.start(dataDir, port, ENV);
  if (!newest.said.includes(BEGUN))
    broken.push(`The last new node did not begin with the snapshot: ${newest.said}`);
  if (existsSync(copiesIn(dataDir))) broken.push('A copy of the views is left.');
  const { code, out, err } = await runScript(dataDir, 'rebuild', ['--all', '--check']);
  if (code !== 0) broken.push(`The views are not those of the log: ${out}${err}`);
  const dangling = await everythingVerified(dataDir);
  await newest.end('SIGTERM');
  const unusable = { dataDir, port, env: ENV, removeViews: () => removeViews(dataDir) };
  broken.push(...(await startWithoutSnapshots(unusable)));
  const again = await runScript(dataDir, 'rebuild', ['--all', '--check']);
  if (again.code !== 0)
    broken.push(`The views filled without a snapshot are not those of the log: ${again.out}${again.err}`);
  return {
    tried: `A service under load was killed ${storing.kills} times while it stored a snapshot of its views, and new ones ${beginning.kills} times while they began with one. Then one found it of an older projection, and one found none in the store.`,
    held: 'Each next one started; the last new one began with the snapshot, and its views were those of the log. Without a usable one they said so and filled their views from the log.',
    broken: [...broken, ...load.ledger.faults, ...kept.lost, ...kept.doubled, ...kept.stuck, ...dangling],
    numbers: {
      killsStoring: storing.kills,
      killsBeginning: beginning.kills,
      snapshots: recorded,
      acknowledged: load.ledger.acknowledged,
      lost: kept.lost.length,
      dangling: dangling.length,
    },
  };
}

type Site = {
  readonly dataDir: string;
  readonly port: number;
  readonly random: () => number;
  readonly isNew?: boolean;
};

/** Starts a service and kills it soon after it has begun to copy views; ends early once a snapshot is recorded. */
async function killRepeatedly(most: number, longest: number, { dataDir, port, random, isNew = false }: Site) {
  let kills = 0;
  for (let round = 1; round <= most; round += 1) {
    if (isNew) removeViews(dataDir);
    const child = started(dataDir, port);
    const output = outputOf(child);
    while (!existsSync(copiesIn(dataDir)) && !output().includes(STORED) && child.exitCode === null)
      await pause(1);
    await pause(random() * longest);
    const isOver = output().includes(STORED);
    const code = await endProcess(child, 'SIGKILL');
    if (code !== null) throw new Error(`The service ended with ${code}: ${output()}`);
    kills += 1;
    printProgress(`kill ${kills} of ${most}`);
    if (isOver && !isNew) break;
  }
  return { kills };
}

function started(dataDir: string, port: number): ChildProcess {
  const env = { ...process.env, ...ENV, DEPOSIT_DATA_DIR: dataDir, DEPOSIT_PORT: String(port) };
  return spawn(process.execPath, [SERVICE_MAIN], { env });
}

function outputOf(child: ChildProcess): () => string {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (said += chunk));
  return () => said;
}

/** Resolves to the number of snapshots in the log, once there is one and none is being made. */
async function recordedSnapshot(service: ServiceProcess, dataDir: string): Promise<number> {
  for (;;) {
    const { out } = await runScript(dataDir, 'search', ['--type', 'ViewSnapshotStored', '--json']);
    const recorded = out.split('\n').filter((line) => line.includes('ViewSnapshotStored')).length;
    if (recorded > 0 || service.hasEnded) return recorded;
    await pause(100);
  }
}

function removeViews(dataDir: string): void {
  rmSync(path.join(dataDir, 'views'), { recursive: true, force: true });
}

function copiesIn(dataDir: string): string {
  return path.join(dataDir, 'views', 'snapshot');
}
