import { mkdtempDisposableSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readArguments } from '../src/operations/command/arguments.ts';
import { runCommand, UsageError } from '../src/operations/command/command.ts';
import { say } from '../src/operations/command/output.ts';
import { ProgressLine } from './frame/progress-line.ts';
import { ended } from './inputs/ended.ts';
import { Inputs } from './inputs/inputs.ts';
import type { LoadRequest } from './load/load-job.ts';
import { LoadProcess } from './load/load-process.ts';
import { archiveCreate, statusGet, zipLike } from './load/request-kinds.ts';
import { selfTimes } from './profiles/cpu-profile.ts';
import { prepareFolder, startBenched } from './servers/benched-service.ts';

const HELP = `Shows in which functions time is spent, by Node's own profiler.

  node bench/profile.ts create | get | check | load | all [--top N] [--json]

create, get:  the main thread of the service under requests of 32 clients
check, load:  what an archive worker does with the zip of G9: reading it; laying its listing out as a tree
--top:        functions that are listed (15)
A room is a folder of the service, a package, or a module of Node. Time of waiting and of the start is left out. With --json: an array of {profile, functions, rooms} on stdout.
`;

const [CLIENTS, SECONDS] = [32, 8];

/** Resolves to the file that `--cpu-prof` wrote, and to the milliseconds at its beginning to skip. */
type Profile = (folder: string) => Promise<{ readonly file: string; readonly skip: number }>;
const PROFILES: Readonly<Record<string, Profile>> = {
  create: (folder) => underRequests(folder, archiveCreate(zipLike(2048))),
  get: (folder) => underRequests(folder, statusGet(1)),
  check: (folder) => inWorker(folder, 'check', 5),
  load: (folder) => inWorker(folder, 'load', 20),
};

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, {
    top: { type: 'string', default: '15' },
    json: { type: 'boolean', default: false },
  });
  const names = positionals.includes('all') ? Object.keys(PROFILES) : positionals;
  const rows = [];
  for (const name of names) {
    const profile = PROFILES[name];
    if (!profile)
      throw new UsageError(`There is no profile ${name}: ${Object.keys(PROFILES).join(', ')}, or all.`);
    using temporary = mkdtempDisposableSync(path.join(tmpdir(), 'deposit-profile-'));
    const folder = temporary.path;
    const { file, skip } = await profile(folder);
    const found = selfTimes(file, skip);
    const top = Number(values.top);
    rows.push({
      profile: name,
      functions: found.functions.slice(0, top),
      rooms: found.rooms.slice(0, top),
    });
    if (!values.json)
      say(
        `${tableOf(`${name}, by room`, found.rooms.slice(0, top))}\n${tableOf(`${name}, by function`, found.functions.slice(0, top))}`,
      );
  }
  if (values.json) say(JSON.stringify(rows));
});

/** Returns Markdown for a page of the documentation. */
function tableOf(name: string, times: readonly { readonly what: string; readonly share: number }[]): string {
  const rows = times.map(({ what, share }) => `| ${(share * 100).toFixed(1)} % | ${what} |`);
  return [`\n| ${name} | |`, '| --: | -- |', ...rows].join('\n');
}

async function underRequests(folder: string, request: LoadRequest): ReturnType<Profile> {
  const dataDir = path.join(folder, 'data');
  await prepareFolder(dataDir);
  const started = performance.now();
  let skip = 0;
  {
    const profiling = ['--cpu-prof', '--cpu-prof-dir', folder, '--cpu-prof-interval', '200'];
    // With its memory options the service does not replace its process, which the profiler would not survive.
    const nodeArgs = ['--max-semi-space-size=16', '--heap-growing-percent=50', ...profiling];
    await using service = await startBenched(dataDir, { nodeArgs });
    await using load = new LoadProcess();
    const { url } = service;
    await load.run({ url, clients: 1, request: archiveCreate(zipLike(2048)), seconds: 60, requests: 1 });
    await load.run({ url, clients: CLIENTS, request, seconds: 2 }); // leaves out the time of compilation
    skip = performance.now() - started;
    await load.run({ url, clients: CLIENTS, request, seconds: SECONDS });
  }
  return { file: mainProfileIn(folder), skip };
}

async function inWorker(folder: string, what: string, times: number): ReturnType<Profile> {
  const line = new ProgressLine();
  const cache = path.join(tmpdir(), 'deposit-bench-cache');
  const inputs = new Inputs({ cache, offline: false, tell: (text) => line.tell(text) });
  const { zip } = await inputs.archives();
  const program = path.join(import.meta.dirname, 'profiles', 'profiled-check.ts');
  const profiling = ['--cpu-prof', '--cpu-prof-dir', folder, '--cpu-prof-interval', '500'];
  await ended(process.execPath, [...profiling, program, what, zip.file, String(times)]);
  return { file: mainProfileIn(folder), skip: 0 };
}

/** Returns the profile of the main thread, which ends in thread 0. Other threads write profiles, too. */
function mainProfileIn(folder: string): string {
  const profiles = readdirSync(folder).filter((name) => /\.0\.\d+\.cpuprofile$/.test(name));
  const [found] = profiles.toSorted((a, b) => sizeIn(folder, b) - sizeIn(folder, a));
  if (found === undefined)
    throw new Error(`There is no profile of a main thread among ${profiles.join(', ')}.`);
  return path.join(folder, found);
}

function sizeIn(folder: string, name: string): number {
  return statSync(path.join(folder, name)).size;
}
