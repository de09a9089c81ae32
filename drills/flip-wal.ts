import { cp, open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../testing/processes/free-port.ts';
import { MixedLoad } from './clients/mixed-load.ts';
import { promisesKept } from './clients/promises-kept.ts';
import type { Ledger } from './clients/watched-deposit.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { drillClient, drilledFolder, scratchFolder } from './service/drilled-service.ts';
import { NotStarted, ServiceProcess } from './service/service-process.ts';

const HELP = `Kills the service under load, so that the last of its commits are only in the write-ahead log of SQLite, flips one bit
of a copy of that file at a time, and starts the service on it. SQLite drops everything after a corrupt frame without
an error, and its integrity check passes: the service has to refuse to start, with one clear message, or to have all
that was acknowledged.

  node drills/flip-wal.ts [--flips 40]
`;

/** Writes that are acknowledged before the kill: too few for the log to be merged into the database. */
const WRITES = 60;
/** Sizes of the header of the write-ahead log and of one frame: its header, then a page. */
const [WAL_HEADER, FRAME] = [32, 24 + 4096];

await runDrill(HELP, { flips: { full: 40, short: 2 } }, ({ flips }) => drill(flips));

async function drill(flips: number): Promise<Finding> {
  await using folder = await drilledFolder('wal');
  await using copies = await scratchFolder('flipped-wal');
  const port = await freePort();
  const ledger = await killedUnderLoad(folder.dataDir, port);
  const { size } = await stat(path.join(folder.dataDir, 'event-log.sqlite-wal'));
  const tally = { refused: 0, complete: 0, silent: 0 };
  const broken: string[] = [];
  for (let flip = 1; flip <= flips; flip += 1) {
    const copy = path.join(copies.path, 'data');
    await cp(folder.dataDir, copy, { recursive: true });
    // The first half of the flips is anywhere, the other half in the last frames, which matter most.
    const from = flip <= flips / 2 ? 0 : Math.max(0, size - 12 * FRAME);
    const where = await flipBit(path.join(copy, 'event-log.sqlite-wal'), from, size);
    const { outcome, why } = await startedOn(copy, port, ledger);
    tally[outcome] += 1;
    if (why !== undefined) broken.push(`${where}: ${why}`);
    printProgress(`flip ${flip} of ${flips}, ${where}: ${outcome}`);
    await rm(copy, { recursive: true, force: true });
  }
  const whole = await startedOn(folder.dataDir, port, ledger);
  if (whole.outcome !== 'complete') broken.push(`Without any flip: ${whole.why}`);
  if (tally.refused === 0) broken.push('No flip was found at the start: the drill hit nothing.');
  return {
    tried: `${flips} single bits of the write-ahead log of a killed service (${size} bytes, ${ledger.acknowledged} writes acknowledged) were flipped and the service started on each.`,
    held: `It refused to start with a clear message ${tally.refused} times; ${tally.complete} times the bit was unused and all data were there.`,
    broken,
    numbers: {
      flips,
      refused: tally.refused,
      'all there': tally.complete,
      lost: tally.silent,
      acknowledged: ledger.acknowledged,
    },
  };
}

async function killedUnderLoad(dataDir: string, port: number): Promise<Ledger> {
  await using service = await ServiceProcess.start(dataDir, port);
  const load = new MixedLoad(drillClient(service.url), { writers: 2 });
  while (load.ledger.acknowledged < WRITES) await pause(10);
  const stopped = load.stop();
  await service.end('SIGKILL');
  await stopped;
  return load.ledger;
}

/** Flips a bit; resolves to its place. */
async function flipBit(file: string, from: number, size: number): Promise<string> {
  const offset = from + Math.floor(Math.random() * (size - from));
  await using handle = await open(file, 'r+');
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, offset);
  byte[0] = (byte[0] ?? 0) ^ (1 << Math.floor(Math.random() * 8));
  await handle.write(byte, 0, 1, offset);
  const frame = Math.floor((offset - WAL_HEADER) / FRAME) + 1;
  return `byte ${offset} (frame ${frame} of ${Math.floor((size - WAL_HEADER) / FRAME)})`;
}

type Started = { readonly outcome: 'refused' | 'complete' | 'silent'; readonly why?: string };

async function startedOn(dataDir: string, port: number, ledger: Ledger): Promise<Started> {
  try {
    await using service = await ServiceProcess.start(dataDir, port);
    const { lost, stuck } = await promisesKept(ledger, drillClient(service.url), dataDir);
    const wrong = [...lost, ...stuck];
    return wrong.length === 0 ? { outcome: 'complete' } : { outcome: 'silent', why: wrong.join(' ') };
  } catch (error) {
    if (!(error instanceof NotStarted)) throw error;
    const { code, message } = error;
    const isClear =
      code === 2 &&
      /The event log .*event-log\.sqlite is corrupt: /.test(message) &&
      !/\n\s+at /.test(message);
    return isClear
      ? { outcome: 'refused' }
      : { outcome: 'refused', why: `It was refused with ${code}: ${message}` };
  }
}
