import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../testing/processes/free-port.ts';
import { AnsweredDeposits, lostOf, newTar } from './clients/answered-deposits.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { registerDrill, scratchFolder, unsettled } from './service/drilled-service.ts';
import { everythingVerified } from './service/everything-verified.ts';
import { notReadyBecause } from './service/readiness.ts';
import { ServiceProcess } from './service/service-process.ts';
import { limitedFiles, mayMount, runWhereItMayMount, tmpfsOn } from './system-calls/small-disk.ts';

const HELP = `Fills the disk under load: that of the event log, that of the archives, and one that has the whole data folder. While
it is full, a create must be answered 503 or 507, or be whole; readiness must say why; when there is room again the
service must recover by itself. The disk is a tmpfs, or, where nothing can be mounted, a limit on the size of files.

  node drills/full-disk.ts
`;

type Place = {
  readonly what: string;
  readonly mebibytes: number;
  readonly folder: string;
  readonly says: RegExp;
};

/** Folders on the small disk, and what readiness has to name when the disk is full. */
const PLACES: readonly Place[] = [
  { what: 'the event log', mebibytes: 3, folder: 'log', says: /event log/ },
  { what: 'the archives', mebibytes: 12, folder: 'archives', says: /archive store/ },
  { what: 'the whole data folder', mebibytes: 16, folder: '.', says: /event log|archive store/ },
];
/** Creates that must be refused before disk space is freed. */
const REFUSALS = { full: 60, short: 12 };
const WRITERS = 4;
/** Milliseconds for the service to recover after disk space is freed. */
const TIME_LIMIT_MS = 20_000;

let isExitCodeOfAnother = false;
if (!mayMount()) {
  const code = runWhereItMayMount();
  if (code !== undefined) {
    process.exitCode = code;
    isExitCodeOfAnother = true;
  }
}
if (!isExitCodeOfAnother) {
  await runDrill(HELP, {}, async ({ short }) => drill(short ? REFUSALS.short : REFUSALS.full));
}

async function drill(refusals: number): Promise<Finding> {
  const found: Outcome[] = [];
  for (const place of PLACES) found.push(await fill(place, refusals));
  const sum = (name: keyof Outcome['numbers']): number =>
    found.reduce((total, { numbers }) => total + numbers[name], 0);
  return {
    tried: `${PLACES.map(({ what }) => what).join(', ')} lay on ${found.map(({ kind }) => kind).join(', ')}; each was filled by ${WRITERS} writers and given room again.`,
    held: 'Every create was answered 201 with whole bytes or 503; readiness said why; with room again the service recovered without a restart; nothing acknowledged was lost; verify --all proved everything.',
    broken: found.flatMap(({ broken }) => broken),
    numbers: {
      acknowledged: sum('acknowledged'),
      refused: sum('refused'),
      lost: sum('lost'),
      'temporary files': sum('leftOver'),
      'longest recovery, ms': Math.max(...found.map(({ numbers }) => numbers.wentOnAfter)),
    },
  };
}

type Outcome = {
  readonly kind: string;
  readonly broken: readonly string[];
  readonly numbers: {
    readonly acknowledged: number;
    readonly refused: number;
    readonly lost: number;
    readonly leftOver: number;
    readonly wentOnAfter: number;
  };
};

async function fill({ what, mebibytes, folder, says }: Place, refusals: number): Promise<Outcome> {
  await using scratch = await scratchFolder('full-disk');
  const dataDir = path.join(scratch.path, 'node');
  await mkdir(dataDir, { mode: 0o700 });
  const place = path.join(dataDir, folder);
  await using disk = await (mayMount() ? tmpfsOn : limitedFiles)(place, mebibytes);
  const env: Record<string, string> =
    folder === 'log' ? { DEPOSIT_EVENT_LOG: `sqlite:${place}/event-log.sqlite` } : {};
  await registerDrill(dataDir, env);
  await using service = await ServiceProcess.start(dataDir, await freePort(), env);
  disk.limit(service.pid);
  const deposits = new AnsweredDeposits(service.url);
  const readiness = await writeUntilFull(deposits, service, refusals);
  const refused = (deposits.counts.get(503) ?? 0) + (deposits.counts.get(507) ?? 0);
  printProgress(
    `${what}: ${deposits.acknowledged.size} acknowledged, ${refused} refused; not ready: ${readiness}`,
  );
  const broken = [...deposits.faults];
  if (refused < refusals)
    broken.push(`The disk of ${what} never became full: ${refused} creates were refused.`);
  if (!says.test(readiness))
    broken.push(`With the disk of ${what} full, readiness said: ${readiness || 'ready'}.`);
  disk.makeRoom(service.pid);
  const wentOnAfter = await goesOn(deposits, service);
  if (service.hasEnded) broken.push(`With ${what} on a full disk the service ended: ${service.said}`);
  else if (wentOnAfter === undefined)
    broken.push(`With room for ${what} again, the service did not recover within ${TIME_LIMIT_MS / 1000} s.`);
  const open = (await unsettled(dataDir, 60_000, env)).length;
  if (open > 0)
    broken.push(`With ${what} on a disk that was full, ${open} deposits did not come to their end.`);
  const code = await service.end('SIGTERM');
  if (code !== 0) broken.push(`The service ended with ${code}: ${service.said}`);
  const lost = await lostOf(deposits, dataDir, env);
  const leftOver = (await readdir(path.join(dataDir, 'archives', 'incoming'))).length;
  if (leftOver > 0) broken.push(`${leftOver} temporary files were left in the store.`);
  broken.push(...lost, ...(await everythingVerified(dataDir, env)));
  return {
    kind: disk.kind,
    broken,
    numbers: {
      acknowledged: deposits.acknowledged.size,
      refused,
      lost: lost.length,
      leftOver,
      wentOnAfter: Math.round(wentOnAfter ?? TIME_LIMIT_MS),
    },
  };
}

/** Resolves to the reason of readiness when this number of creates had been refused. */
async function writeUntilFull(
  deposits: AnsweredDeposits,
  service: ServiceProcess,
  refusals: number,
): Promise<string> {
  const deadline = performance.now() + 60_000;
  const refused = (): number => (deposits.counts.get(503) ?? 0) + (deposits.counts.get(507) ?? 0);
  let readiness = '';
  const writer = async (_: unknown, number: number): Promise<void> => {
    for (let turn = number; performance.now() < deadline && !service.hasEnded; turn += 1) {
      if (refused() >= refusals && readiness !== '') return;
      await deposits.deposit(newTar(turn % 3 === 0 ? 300_000 : 2_000), { isComplete: turn % 4 === 0 });
      if (refused() >= refusals / 2)
        readiness ||= await notReadyBecause(service.url).catch(() => 'no answer');
      if (refused() > refusals * 20) return; // full, but still ready
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return readiness;
}

/** Resolves to the milliseconds until it is ready and accepts deposits again. */
async function goesOn(deposits: AnsweredDeposits, service: ServiceProcess): Promise<number | undefined> {
  const begun = performance.now();
  while (performance.now() - begun < TIME_LIMIT_MS && !service.hasEnded) {
    const small = await deposits.deposit(newTar(2_000), { isComplete: true });
    const large = await deposits.deposit(newTar(300_000), { isComplete: true });
    if (small.status === 201 && large.status === 201 && (await service.isReady()))
      return performance.now() - begun;
    await pause(100);
  }
  return undefined;
}
