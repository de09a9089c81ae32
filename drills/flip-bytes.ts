import { existsSync } from 'node:fs';
import { cp, open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { logicalContent } from '../testing/event-log/logical-content.ts';
import {
  deleteLastEvent,
  removeWithoutTrace,
  rewriteAndForgetAnchors,
  rewriteStream,
} from '../testing/event-log/tampering.ts';
import { makeDeposits } from '../testing/http/varied-deposits.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { runScript } from '../testing/processes/run-script.ts';
import { seeded } from '../testing/processes/seeded-random.ts';
import { type Finding, runDrill, printProgress as say, type Values } from './frame/drill.ts';
import { drillClient, registerDrill, scratchFolder, settled } from './service/drilled-service.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Makes deposits of many kinds in a real service, stops it, changes one byte of a copy of its files at a time, and
looks whether "deposit-service verify" names each. Then tampers with the log as its owner could, which anchors must show.

  node drills/flip-bytes.ts [--deposits 200] [--flips 100] [--seed 1] [--crash]

--crash: the service is not stopped but killed, and the bytes of the write-ahead logs that it leaves are changed, too.

A flip that verify does not name must hit a byte that holds nothing: every row of every table is the same after it,
and SQLite's own integrity check is content.
`;

type Place = { readonly file: string; readonly offset: number };
type Verified = { readonly code: number; readonly findings: readonly Record<string, unknown>[] };
type Kind =
  | 'log'
  | 'head of the log'
  | 'small objects'
  | 'large objects'
  | 'WAL of the log'
  | 'WAL of small objects';

const random = { next: () => 0 };

type Tally = { named: number; 'hold nothing': number; 'time of storing': number; missed: number };

const OPTIONS = {
  deposits: { full: 200, short: 16 },
  flips: { full: 100, short: 2 },
  seed: 1,
  crash: { type: 'boolean', default: false },
} as const;

await runDrill(HELP, OPTIONS, drill);

async function drill({ deposits, flips, seed, crash }: Values<typeof OPTIONS>): Promise<Finding> {
  random.next = seeded(seed);
  await using temporary = await scratchFolder('flips');
  const [original, work, anchors] = ['original', 'work', 'anchors.ndjson'].map((name) =>
    path.join(temporary.path, name),
  ) as [string, string, string];
  await filled(original, deposits, anchors, crash ? 'SIGKILL' : 'SIGTERM');
  await cp(original, work, { recursive: true });
  const untouched = await verify(work, anchors);
  if (untouched.code !== 0) throw new Error(`Before any flip: ${JSON.stringify(untouched.findings)}`);
  const tally: Tally = { named: 0, 'hold nothing': 0, 'time of storing': 0, missed: 0 };
  const broken: string[] = [];
  let tried = 0;
  for (const [kind, files, count] of await targets(original, work, flips)) {
    broken.push(...(await flipEach(kind, files, count, tally, work, original, anchors)));
    tried += count;
  }
  const tampered = await tamper(original, work, anchors);
  return {
    tried: `${tried} single bytes of the log, its head file, the objects${crash ? ' and the write-ahead logs' : ''} were changed one at a time (${deposits} deposits), and the log tampered with in ${tampered.times} ways.`,
    held: `verify named ${tally.named} of them, the others held nothing but unused space or a time of storing; anchors showed all tampering.`,
    broken: [...broken, ...tampered.missed],
    numbers: { flips: tried, ...tally, tampered: tampered.times },
  };
}

/** Fills a folder as a stopped service leaves it, with anchors made on the way. */
async function filled(
  folder: string,
  deposits: number,
  anchors: string,
  signal: NodeJS.Signals,
): Promise<void> {
  await registerDrill(folder);
  await using service = await ServiceProcess.start(folder, await freePort());
  const client = drillClient(service.url);
  for (const part of [0, 1, 2, 3]) {
    const count = Math.floor((deposits * (part + 1)) / 4) - Math.floor((deposits * part) / 4);
    await makeDeposits(client, 'drill', count, randomBytes);
    // A command that ends merges the write-ahead log.
    if (part === 3 && signal === 'SIGKILL') break;
    await settled(folder);
    await runScript(folder, 'anchor', ['--file', anchors]);
  }
  const code = await service.end(signal);
  if (code !== 0 && signal === 'SIGTERM') throw new Error(`The service ended with ${code}.`);
}

async function targets(
  original: string,
  folder: string,
  flips: number,
): Promise<(readonly [Kind, string[], number])[]> {
  const large = await filesBelow(path.join(folder, 'archives', 'v1'));
  const [log, small] = [path.join(folder, 'event-log.sqlite'), path.join(folder, 'archives', 'small.sqlite')];
  const head = Math.ceil(flips / 10);
  const all: (readonly [Kind, string[], number])[] = [
    ['log', [log], flips - head],
    ['head of the log', [`${log}.head`], head],
    ['small objects', [small], Math.ceil(flips / 2)],
    ['large objects', large, Math.floor(flips / 2)],
    ['WAL of the log', [`${log}-wal`], flips],
    ['WAL of small objects', [`${small}-wal`], flips],
  ];
  return all.filter(([, files]) =>
    files.every((file) => existsSync(path.join(original, path.relative(folder, file)))),
  );
}

/** Resolves to the flips that were not found, a sentence each. */
async function flipEach(
  kind: Kind,
  files: readonly string[],
  count: number,
  tally: Tally,
  work: string,
  original: string,
  anchors: string,
): Promise<string[]> {
  const missed: string[] = [];
  for (let flip = 0; flip < count; flip += 1) {
    const place = await anyPlace(files);
    await restore(work, original, place.file);
    const flipped = await flipByte(place);
    const { findings, code } = await verify(work, anchors);
    const named = code === 1 && findings.some((finding) => names(finding, kind, place));
    const outcome = named ? 'named' : unnamed(place.file, work, original);
    tally[outcome] += 1;
    const where = `${path.relative(work, place.file)}, ${flipped}`;
    if (outcome === 'missed') missed.push(`verify did not name a changed byte: ${where}.`);
    say(`${kind}, ${flip + 1} of ${count}: ${outcome}: ${where}`);
    await restore(work, original, place.file);
  }
  return missed;
}

/** Whether the finding is about the file that was changed. */
function names(finding: Record<string, unknown>, kind: Kind, { file }: Place): boolean {
  if (kind === 'large objects') return finding['object'] === path.basename(file);
  const database = databaseOf(file);
  if (database.endsWith('small.sqlite')) {
    return finding['object'] !== undefined || finding['file'] === database;
  }
  return finding['position'] !== undefined || String(finding['file']).startsWith(database);
}

function unnamed(
  file: string,
  work: string,
  original: string,
): 'hold nothing' | 'time of storing' | 'missed' {
  if (!/\.sqlite(-wal)?$/.test(file)) return 'missed';
  const database = databaseOf(file);
  const [now, before] = [
    logicalContent(database),
    logicalContent(path.join(original, path.relative(work, database))),
  ];
  const differing = Object.keys({ ...now, ...before }).filter((name) => now[name] !== before[name]);
  if (differing.length === 0) return 'hold nothing';
  return differing.join() === 'small_object.stored_at' ? 'time of storing' : 'missed';
}

function databaseOf(file: string): string {
  return file.replace(/(-wal|\.head)$/, '');
}

async function tamper(
  original: string,
  work: string,
  anchors: string,
): Promise<{ times: number; missed: string[] }> {
  const missed: string[] = [];
  const ways = [
    ['the last event of a stream deleted', deleteLastEvent],
    ['a stream rewritten with a fresh, consistent chain', rewriteStream],
    ['an event removed, all positions after it closed up, the head file rewritten', removeWithoutTrace],
    [
      'a stream rewritten, the anchors taken out of the log, the head file rewritten',
      rewriteAndForgetAnchors,
    ],
  ] as const;
  for (const [what, change] of ways) {
    await rm(work, { recursive: true });
    await cp(original, work, { recursive: true });
    const changed = change(path.join(work, 'event-log.sqlite'));
    const [alone, anchored] = [await verify(work), await verify(work, anchors)];
    const finding = anchored.findings.find(({ check }) => check === 'anchors');
    say(
      `${what} (${changed}): ${alone.findings.length} findings without the anchor file, ${anchored.findings.length} with it; ${String(finding?.['text'])}`,
    );
    if (!finding) missed.push(`The anchors did not show: ${what}.`);
  }
  return { times: ways.length, missed };
}

async function anyPlace(files: readonly string[]): Promise<Place> {
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  const number = Math.floor(random.next() * files.length);
  return { file: files[number] as string, offset: Math.floor(random.next() * (sizes[number] ?? 0)) };
}

async function flipByte({ file, offset }: Place): Promise<string> {
  await using handle = await open(file, 'r+');
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, offset);
  const [before] = buffer as unknown as [number];
  const after = (before + 1 + Math.floor(random.next() * 255)) % 256;
  await handle.write(Buffer.of(after), 0, 1, offset);
  return `byte ${offset} (page ${Math.floor(offset / 4096) + 1}, byte ${offset % 4096} of it): ${before} to ${after}`;
}

/** Restores the file with all files of its database, without those that SQLite has created since. */
async function restore(work: string, original: string, file: string): Promise<void> {
  const database = databaseOf(file);
  for (const suffix of ['', '-wal', '-shm', '.head']) {
    const kept = path.join(original, path.relative(work, database + suffix));
    await rm(database + suffix, { force: true });
    if (existsSync(kept) && suffix !== '-shm') await cp(kept, database + suffix);
  }
}

async function verify(folder: string, anchors?: string): Promise<Verified> {
  const args = ['--all', '--json', ...(anchors ? ['--anchors', anchors] : [])];
  const { code, out, err } = await runScript(folder, 'verify', args);
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line || '{}') as { finding?: Record<string, unknown>; summary?: object });
  if (!lines.some(({ summary }) => summary)) throw new Error(`verify ended with ${code}: ${err}`);
  return { code, findings: lines.flatMap(({ finding }) => (finding ? [finding] : [])) };
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
}

function randomBytes(length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => Math.floor(random.next() * 256)));
}
