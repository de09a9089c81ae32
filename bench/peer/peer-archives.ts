import { execFile } from 'node:child_process';
import { mkdir, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { ArchiveWorkers } from '../../src/archives/workers/archive-workers.ts';
import { atLeast, type Bench, type Comparison, type Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import { type MadeArchive, madeArchive } from '../inputs/archives.ts';
import { zipSmallFiles } from '../inputs/small-files-zip.ts';
import { loadArchive } from './loaded-archive.ts';
import { type Loaded, PeerLoader } from './peer-loader.ts';

const PROGRAM = path.join(import.meta.dirname, 'loaded-archive.ts');
/** Flags and environment that the service starts itself with. */
const AS_SERVICE = { flags: ['--heap-growing-percent=50'], env: { MALLOC_ARENA_MAX: '2' } };
const SMALL_FILES = [20_000, 80_000];
const run = promisify(execFile);

/** Compares the check and the load of an archive with the peer's loader, by time, CPU time and memory. */
export function peerArchives(cache: string): Goal {
  return {
    id: 'P2',
    what: 'archives beside the loader of swh.deposit',
    async measure(bench) {
      await using peer = await PeerLoader.start(cache);
      await using workers = new ArchiveWorkers();
      await Promise.all([workers.merge([]), workers.merge([])]); // starts both threads, as several deposits do
      const { files, bytes } = await bench.inputs.tree();
      const { zip, tarGz } = await bench.inputs.archives();
      const tree = { files, note: `${files} files, ${Math.round(bytes / 1e6)} MB unpacked` };
      const sides = (archive: MadeArchive): Sides => ({
        service: () => loadArchive(workers, archive),
        peer: () => peer.load(archive.file),
      });
      return [
        ...(await compareTimes(bench, 'zip', tree, sides(zip))),
        ...(await compareTimes(bench, 'tar.gz', tree, sides(tarGz))),
        ...(await compareMemory(bench, cache)),
      ];
    },
  };
}

type Sides = Readonly<Record<'service' | 'peer', () => Promise<Loaded>>>;
type Tree = { readonly files: number; readonly note: string };

async function compareTimes(
  bench: Bench,
  what: string,
  { files, note }: Tree,
  sides: Sides,
): Promise<Comparison[]> {
  const byCpu = { service: [] as number[], peer: [] as number[] };
  const directories = new Set<string>();
  const rate = (name: keyof Sides) => async () => {
    const { directory, seconds, cpuSeconds } = await sides[name]();
    directories.add(directory);
    byCpu[name].push(files / cpuSeconds);
    return files / seconds;
  };
  const byClock = await interleave(bench, `P2, ${what}`, { service: rate('service'), peer: rate('peer') });
  assertSame(what, directories);
  return [
    { what, unit: 'files/s', ...named(byClock, bench), wanted: atLeast(5), note },
    { what: `${what}, by CPU time`, unit: 'files/CPU s', ...named(byCpu, bench), wanted: undefined },
  ];
}

/** Measures one process for each archive and side. */
async function compareMemory(bench: Bench, cache: string): Promise<Comparison[]> {
  const found: Comparison[] = [];
  for (const count of SMALL_FILES) {
    bench.tell(`P2: memory with ${count} files`);
    const archive = await smallFiles(cache, count);
    const ours = await loadInProcess(archive);
    await using peer = await PeerLoader.start(cache);
    const theirs = await peer.load(archive.file);
    assertSame(`zip of ${count} files`, new Set([ours.directory, theirs.directory]));
    found.push({
      what: `zip of ${count.toLocaleString('en')} files of 1 KB, peak memory`,
      unit: 'MiB',
      ...named({ service: [ours.peakMemory], peer: [theirs.peakMemory] }, bench),
      wanted: undefined,
    });
  }
  return found;
}

async function smallFiles(cache: string, count: number): Promise<MadeArchive> {
  const file = path.join(cache, `small-files-${count}.zip`);
  await mkdir(cache, { recursive: true });
  if (!(await stat(file).catch(() => undefined))) {
    await zipSmallFiles(`${file}.part`, count);
    await rename(`${file}.part`, file);
  }
  return madeArchive(file);
}

async function loadInProcess({ file, sha256 }: MadeArchive): Promise<Loaded> {
  const env = { ...process.env, ...AS_SERVICE.env };
  const { stdout } = await run(process.execPath, [...AS_SERVICE.flags, PROGRAM, file, sha256], { env });
  return JSON.parse(stdout) as Loaded; // written by that program
}

function assertSame(what: string, directories: ReadonlySet<string>): void {
  if (directories.size !== 1)
    throw new Error(`The ${what} has several identifiers: ${[...directories].join(', ')}.`);
}

function named(
  { service, peer }: Readonly<Record<keyof Sides, number[]>>,
  { pairs }: Bench,
): Pick<Comparison, 'ours'> & { readonly reference: Comparison['ours'] } {
  return {
    ours: { name: 'service', values: service.slice(-pairs) }, // without warm-up rounds
    reference: { name: 'loader of swh.deposit', values: peer.slice(-pairs) },
  };
}
