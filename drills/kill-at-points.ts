import { freePort } from '../testing/processes/free-port.ts';
import { type Finding, printProgress, runDrill, skipped } from './frame/drill.ts';
import { drillClient, drilledFolder, unsettled } from './service/drilled-service.ts';
import { everythingVerified } from './service/everything-verified.ts';
import { ServiceProcess } from './service/service-process.ts';
import { KilledCreate } from './system-calls/killed-create.ts';
import { Strace, whyNoStrace } from './system-calls/strace.ts';

const HELP = `Kills the service with SIGKILL exactly at the n-th sync, rename, write, opening, cut or removal of a file on the way of
a deposit, from its create to its end, for every n until it is through: for an archive that becomes a row of the store
and for one that becomes a file. After each kill the deposit has to be there whole or not at all, there if it was
acknowledged, and the same create, repeated with its Idempotency-Key, has to give one deposit that comes to its end.
Needs strace.

  node drills/kill-at-points.ts [--most 8]

--most N  points of one kind of call and one thread, at the most
`;

/** System calls that store something. The call at which the process is killed does not complete. */
const CALLS = [
  'fdatasync',
  'fsync',
  'rename',
  'pwrite64',
  'pwritev',
  'openat',
  'unlink',
  'ftruncate',
  'write',
];
const SHORT_CALLS = ['fsync'];
/** Bytes of archives that become a row and a file of the store. */
const SIZES = [2000, 200_000];
/** Time limit for a deposit to be settled, in milliseconds. */
const TIME_LIMIT_MS = 30_000;

type Point = { readonly call: string; readonly size: number; readonly number: number };

/** The results of all points. */
type Tally = {
  kills: number;
  acknowledged: number;
  lost: number;
  /** Kills before the answer, by whether the deposit existed afterwards. */
  all: number;
  nothing: number;
  readonly places: Set<string>;
  readonly broken: string[];
};

await runDrill(HELP, { most: { full: 8, short: 1 } }, async ({ most, short }) => {
  const reason = whyNoStrace();
  if (reason !== undefined) return skipped(reason);
  return drill(short ? SHORT_CALLS : CALLS, most);
});

async function drill(calls: readonly string[], most: number): Promise<Finding> {
  await using folder = await drilledFolder('points');
  const { dataDir } = folder;
  const port = await freePort();
  const tally: Tally = {
    kills: 0,
    acknowledged: 0,
    lost: 0,
    all: 0,
    nothing: 0,
    places: new Set(),
    broken: [],
  };
  const run = { service: await ServiceProcess.start(dataDir, port) };
  await using _running = { [Symbol.asyncDispose]: () => run.service[Symbol.asyncDispose]() };
  for (const point of points(calls, most)) {
    const create = new KilledCreate(point.size);
    const place = await killedAt(point, create, run.service);
    if (!run.service.hasEnded) continue;
    run.service = await ServiceProcess.start(dataDir, port);
    await judge(create, `${point.call} ${point.number} (${place})`, run.service, dataDir, tally);
    tally.places.add(`${point.call} of ${place}`);
    printProgress(`kill ${tally.kills}: at ${point.call} ${point.number} of ${point.size} bytes, ${place}`);
  }
  const stuck = await unsettled(dataDir, TIME_LIMIT_MS);
  const dangling = await everythingVerified(dataDir);
  const code = await run.service.end('SIGTERM');
  if (code !== 0) tally.broken.push(`The service ended with ${code} after SIGTERM.`);
  return finding(tally, stuck, dangling);
}

/** Yields points with rising numbers of one kind of call; points that a create does not reach cost nothing. */
function* points(calls: readonly string[], most: number): Generator<Point> {
  for (const call of calls) {
    for (const size of SIZES) {
      for (let number = 1; number <= most; number += 1) yield { call, size, number };
    }
  }
}

/** Resolves to the file of the call when the service has been killed or the deposit is settled. */
async function killedAt(
  { call, number }: Point,
  create: KilledCreate,
  service: ServiceProcess,
): Promise<string> {
  const inject = `inject=${call}:signal=SIGKILL:when=${number}`;
  const strace = await Strace.attach([service.pid], ['-f', '-y', '-e', `trace=${call}`, '-e', inject]);
  await create.send(drillClient(service.url), service);
  const seen = (await strace.detach()).split('\n').filter((line) => line.includes(` ${call}(`));
  return fileIn(seen.at(-1) ?? '');
}

/** Returns a file such as "event-log.sqlite-wal", "archives/incoming/…", or else the descriptor's path. */
function fileIn(line: string): string {
  const path = /[<"]\/[^>"]*deposit-points-[^/]+\/([^>"]*)/.exec(line)?.[1];
  if (path === undefined) return /<([a-z]+):/.exec(line)?.[1] ?? 'something outside the data folder';
  return path
    .replaceAll(/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{64}|[0-9a-f-]{36}/g, '…')
    .replace(/\/[0-9a-f]{2}(\/[0-9a-f]{2})?$/, '/…');
}

async function judge(
  create: KilledCreate,
  where: string,
  service: ServiceProcess,
  dataDir: string,
  tally: Tally,
): Promise<void> {
  const left = await create.left(dataDir);
  tally.kills += 1;
  if (create.isAcknowledged) tally.acknowledged += 1;
  else if (left !== 'a part') tally[left] += 1;
  if (left === 'a part') tally.broken.push(`The kill at ${where} left a part of a deposit.`);
  if (left === 'nothing' && create.isAcknowledged) {
    tally.lost += 1;
    tally.broken.push(`What was acknowledged before the kill at ${where} is gone.`);
  }
  const faults = await create.repeat(drillClient(service.url), dataDir);
  tally.broken.push(...faults.map((fault) => `A create, killed at ${where}: ${fault}`));
}

function finding(tally: Tally, stuck: readonly string[], dangling: readonly string[]): Finding {
  const { kills, places, broken, acknowledged, lost, all, nothing } = tally;
  const tooFew = kills < 2 ? [`Only ${kills} points were reached.`] : [];
  return {
    tried: `SIGKILL at ${kills} points of deposits in progress: ${[...places].toSorted().join(', ')}.`,
    held: `${acknowledged} were acknowledged and there, of the others ${all} there whole and ${nothing} not at all; each repetition gave one deposit that came to its end.`,
    broken: [
      ...broken,
      ...stuck.map((stream) => `${stream} was completed and has not come to its end.`),
      ...dangling,
      ...tooFew,
    ],
    numbers: {
      kills,
      points: places.size,
      acknowledged,
      lost,
      dangling: dangling.length,
      stuck: stuck.length,
    },
  };
}
