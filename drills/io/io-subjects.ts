import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../src/config/config.ts';
import { UsageError } from '../../src/operations/command/command.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { mustPass, runScript } from '../../testing/processes/run-script.ts';
import { faultsOf, leftovers, notProven } from './io-checks.ts';
import {
  configOf,
  makeDataFolder,
  nothingPromised,
  type Promised,
  runAgain,
  runService,
} from './io-scene.ts';

type Outcome = {
  readonly faults: readonly string[];
  /** Whether it ended without having done what it is for. */
  readonly gaveUp: boolean;
  readonly promised: Promised;
};

/** Something that runs while calls fail or the power is cut. Everything that it needs is in one folder. */
export type Subject = {
  readonly name: string;
  /** The folder, in that of the subject, whose calls fail. */
  readonly watched: string;
  readonly prepare: (folder: string) => Promise<void>;
  readonly run: (folder: string) => Promise<Outcome>;
  /** Runs it again, where it has not done its work, and resolves to a sentence for each thing that is wrong. */
  readonly check: (folder: string, promised: Promised, isUndone: boolean) => Promise<string[]>;
};

const service: Subject = {
  name: 'service',
  watched: 'data',
  prepare: (folder) => makeDataFolder(path.join(folder, 'data')),
  run: async (folder) => {
    const promised = nothingPromised();
    const faults = await runService(path.join(folder, 'data'), promised);
    return { faults, gaveUp: false, promised };
  },
  check: async (folder, promised) => {
    const data = path.join(folder, 'data');
    return [...(await runAgain(data, promised)), ...(await faultsOf(data, promised))];
  },
};

const backup: Subject = {
  name: 'backup',
  watched: 'copy',
  prepare: (folder) => makeDataFolder(path.join(folder, 'data')),
  ...command('backup', (folder) => [path.join(folder, 'copy'), '--init']),
  check: checking(
    'backup',
    (folder) => [path.join(folder, 'copy'), '--init'],
    async (folder, wasUndone) => [
      ...(await copyFaults(folder)),
      ...(wasUndone ? await leftovers(path.join(folder, 'copy')) : []), // nothing else sweeps a backup
    ],
  ),
};

const restore: Subject = {
  name: 'restore',
  watched: 'copy',
  prepare: async (folder) => {
    await makeDataFolder(path.join(folder, 'data'));
    await mustPass(path.join(folder, 'data'), 'backup', [path.join(folder, 'backup'), '--init']);
  },
  ...command('restore', (folder) => [path.join(folder, 'backup')], 'copy'),
  check: checking('restore', (folder) => [path.join(folder, 'backup')], copyFaults, 'copy'),
};

const migrateLogArgs = (folder: string): string[] => [
  '--from',
  `sqlite:${folder}/data/event-log.sqlite`,
  '--to',
  `sqlite:${folder}/copy/event-log.sqlite`,
];

const migrateLog: Subject = {
  name: 'migrate-log',
  watched: 'copy',
  prepare: (folder) => makeDataFolder(path.join(folder, 'data')),
  ...command('migrate', migrateLogArgs),
  check: checking('migrate', migrateLogArgs, async (folder) => [
    ...(await eventsMissing(folder)),
    ...(await notProven(configOf(path.join(folder, 'copy')), { what: 'log' })),
  ]),
};

const migrateStoreArgs = (folder: string): string[] => [
  '--from',
  `file:${folder}/data/archives`,
  '--to',
  `file:${folder}/copy/archives`,
];

const migrateStore: Subject = {
  name: 'migrate-store',
  watched: 'copy',
  prepare: (folder) => makeDataFolder(path.join(folder, 'data')),
  ...command('migrate', migrateStoreArgs),
  check: checking('migrate', migrateStoreArgs, async (folder) => {
    const data = path.join(folder, 'data');
    const archives = { kind: 'file', folder: path.join(folder, 'copy', 'archives') } as const;
    const config: Config = { ...configOf(data), archiveStore: archives };
    return await notProven(config);
  }),
};

const rebuild: Subject = {
  name: 'rebuild',
  watched: 'data',
  prepare: (folder) => makeDataFolder(path.join(folder, 'data')),
  ...command('rebuild', () => ['--all']),
  check: checking(
    'rebuild',
    () => ['--all'],
    async (folder) => {
      const data = path.join(folder, 'data');
      return [...(await runAgain(data, nothingPromised())), ...(await faultsOf(data, nothingPromised()))];
    },
  ),
};

const SUBJECTS = [service, backup, restore, migrateLog, migrateStore, rebuild];

export const subjectNames = SUBJECTS.map(({ name }) => name);

/** @throws {UsageError} there is no subject of that name. */
export function chosenSubjects(only: string | undefined): readonly Subject[] {
  const chosen = SUBJECTS.filter(({ name }) => only === undefined || name === only);
  if (chosen.length > 0) return chosen;
  throw new UsageError(`--only must be one of ${subjectNames.join(', ')}, not ${only}.`);
}

type Args = (folder: string) => readonly string[];

/** Runs a command of operators; `dataDir` is the data folder of its settings. */
function command(name: string, args: Args, dataDir = 'data'): Pick<Subject, 'run'> {
  return {
    run: async (folder) => {
      const { code, out, err } = await runScript(path.join(folder, dataDir), name, args(folder));
      const said = `${err}${out}`.trim();
      const isWrong = code !== 0 && code !== 1;
      const faults = isWrong || /^\s+at /m.test(said) ? [`${name} ended with ${code}: ${said}`] : [];
      return { faults, gaveUp: code !== 0, promised: nothingPromised() };
    },
  };
}

function checking(
  name: string,
  args: Args,
  faults: (folder: string, wasUndone: boolean) => Promise<string[]>,
  dataDir = 'data',
): Subject['check'] {
  return async (folder, _promised, isUndone) => {
    try {
      if (isUndone) await mustPass(path.join(folder, dataDir), name, args(folder));
      return await faults(folder, isUndone);
    } catch (error) {
      return [(error as Error).message];
    }
  };
}

async function copyFaults(folder: string): Promise<string[]> {
  const copy = path.join(folder, 'copy');
  return [
    ...(await eventsMissing(folder)),
    ...(await notProven(configOf(copy))),
    ...(await keysMissing(folder)),
  ];
}

/** Every event of the data folder is in the copy, in the same order; a restore adds one. */
async function eventsMissing(folder: string): Promise<string[]> {
  const [source, target] = [
    await eventIds(path.join(folder, 'data')),
    await eventIds(path.join(folder, 'copy')),
  ];
  const isSame = source.every((id, index) => target[index] === id) && target.length <= source.length + 1;
  return isSame ? [] : [`The copy has ${target.length} events, not the ${source.length} of its source.`];
}

async function eventIds(dataDir: string): Promise<string[]> {
  await using log = await openLog(configOf(dataDir), { readOnly: true });
  const ids: string[] = [];
  for await (const { id } of log.readAll()) ids.push(id);
  return ids;
}

async function keysMissing(folder: string): Promise<string[]> {
  const keys = path.join(folder, 'data', 'keys');
  const faults: string[] = [];
  for (const name of await readdir(keys).catch(() => [])) {
    const copied = await readFile(path.join(folder, 'copy', 'keys', name)).catch(() => undefined);
    if (!copied?.equals(await readFile(path.join(keys, name))))
      faults.push(`The key ${name} is not in the copy.`);
  }
  return faults;
}
