import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../src/config/read-config.ts';
import { UsageError } from '../src/operations/command/command.ts';
import { openStore } from '../src/service/backends/open-store.ts';
import { tarOf } from '../testing/archives/archive-builders.ts';
import { archivePart, entryPart, formOf, formType } from '../testing/http/deposit-bodies.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { mustPass, startScript } from '../testing/processes/run-script.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { drillClient, drilledFolder, scratchFolder, settled } from './service/drilled-service.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Kills each long command of operators with SIGKILL at random moments, runs it again, and looks whether all is right.

  node drills/kill-commands.ts [--kills 10] [--deposits 300] [--only COMMAND]

Commands: rebuild (output the running service), backup, migrate, gc, verify.
`;

/** A command that is killed, and what must hold after it has run again. */
type Subject = {
  readonly name: string;
  /** Whether it needs the folder for itself. */
  readonly alone: boolean;
  readonly prepare?: (folder: string) => Promise<void>;
  readonly args: (folder: string, output: string) => string[];
  /** Throws what is wrong. */
  readonly check: (folder: string, output: string) => Promise<void>;
};

const ORPHANS = 1000;
/** Approximate time in which a Node process starts, in milliseconds. */
const START = 150;

const subjects: Subject[] = [
  {
    name: 'rebuild',
    alone: false,
    args: () => ['--all'],
    check: (folder) => mustPass(folder, 'rebuild', ['--all', '--check']).then(() => undefined),
  },
  {
    name: 'backup',
    alone: false,
    args: (_, output) => [output, '--init'],
    check: async (_, output) => {
      await using restored = await scratchFolder('restored');
      await mustPass(restored.path, 'restore', [output]);
      await mustPass(restored.path, 'verify', ['--all']);
    },
  },
  {
    name: 'migrate',
    alone: false,
    args: (folder, output) => [
      '--from',
      `sqlite:${folder}/event-log.sqlite`,
      '--to',
      `sqlite:${output}/copy.sqlite`,
    ],
    check: async (folder, output) => {
      const back = ['--from', `sqlite:${output}/copy.sqlite`, '--to', `sqlite:${output}/back.sqlite`];
      await mustPass(folder, 'migrate', back);
    },
  },
  {
    name: 'gc',
    alone: true,
    prepare: makeOrphans,
    args: () => ['--remove', '--more-than-a-tenth', '--older-than', '0s'],
    check: async (folder) => {
      const out = await mustPass(folder, 'gc', ['--older-than', '0s', '--json']);
      if ((JSON.parse(out) as { objects: number }).objects > 0) throw new Error(`orphans are left: ${out}`);
      await mustPass(folder, 'verify', ['--all']);
    },
  },
  {
    name: 'verify',
    alone: false,
    args: () => ['--all', '--resume'],
    check: (folder) => mustPass(folder, 'verify', ['--all', '--resume']).then(() => undefined),
  },
];

await runDrill(
  HELP,
  { kills: { full: 10, short: 1 }, deposits: { full: 300, short: 20 }, only: { type: 'string' } },
  ({ kills, deposits, only }) => drill(kills, deposits, only),
);

async function drill(kills: number, deposits: number, only: string | undefined): Promise<Finding> {
  const chosen = subjects.filter(({ name }) => only === undefined || name === only);
  if (chosen.length === 0)
    throw new UsageError(
      `--only must be one of ${subjects.map(({ name }) => name).join(', ')}, not ${only}.`,
    );
  await using drilled = await drilledFolder('kill-commands');
  const folder = drilled.dataDir;
  await using service = await ServiceProcess.start(folder, await freePort());
  await makeDeposits(service.url, deposits);
  await settled(folder);
  const broken: string[] = [];
  for (const subject of chosen) {
    if (subject.alone) await service.end('SIGTERM');
    broken.push(...(await killed(subject, folder, kills)));
  }
  const names = chosen.map(({ name }) => name).join(', ');
  return {
    tried: `SIGKILL ${kills} times each of ${names}, at random moments, on ${deposits} deposits; each was run again.`,
    held: 'Run again, each did what it is for, and everything was proven afterwards.',
    broken,
    numbers: { kills: kills * chosen.length, deposits, dangling: broken.length },
  };
}

/** Resolves to what was wrong after each kill. */
async function killed(subject: Subject, folder: string, kills: number): Promise<string[]> {
  const faults: string[] = [];
  const whole = await timeOf(subject, folder);
  for (let kill = 0; kill < kills; kill += 1) {
    await using scratch = await scratchFolder('output');
    const output = scratch.path;
    try {
      await subject.prepare?.(folder);
      const child = startScript(folder, subject.name, subject.args(folder, output));
      const [exited, after] = [once(child, 'exit'), START + Math.random() * Math.max(50, whole - START)];
      await Promise.race([exited, pause(after)]);
      child.kill('SIGKILL');
      await exited;
      await mustPass(folder, subject.name, subject.args(folder, output));
      await subject.check(folder, output);
      printProgress(`${subject.name} killed after ${Math.round(after)} of ${Math.round(whole)} ms: held`);
    } catch (error) {
      faults.push(`${subject.name}, kill ${kill + 1}: ${(error as Error).message}`);
    }
  }
  return faults;
}

async function timeOf(subject: Subject, folder: string): Promise<number> {
  await using output = await scratchFolder('output');
  await subject.prepare?.(folder);
  const started = performance.now();
  await mustPass(folder, subject.name, subject.args(folder, output.path));
  return performance.now() - started;
}

async function makeOrphans(folder: string): Promise<void> {
  await using store = await openStore(readConfig({ DEPOSIT_DATA_DIR: folder }));
  const orphan = async function* (number: number): AsyncGenerator<Buffer> {
    yield Buffer.from(`orphan ${number} ${Math.random()}`);
  };
  await Promise.all(Array.from({ length: ORPHANS }, (_, number) => store.put(orphan(number))));
}

async function makeDeposits(url: string, count: number): Promise<void> {
  const client = drillClient(url);
  for (let number = 0; number < count; number += 1) {
    const body = new Uint8Array(
      formOf([
        archivePart(tarOf([{ name: 'a.txt', data: `${number}` }]), 'a.tar', 'application/x-tar'),
        entryPart(),
      ]),
    );
    const answer = await client.post('/1/drill/', body, { ...formType, Slug: `${number}` });
    if (answer.status !== 201) throw new Error(`A deposit was answered ${answer.status}.`);
  }
}
