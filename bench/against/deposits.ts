import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LogProcess } from '../../drills/engines/log-process.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { MinioProcess, minioProgram } from '../../testing/s3/minio-process.ts';
import { atLeast, atMost, type Bench, type Comparison, type Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import { NotMeasured } from '../frame/not-measured.ts';
import { LoadProcess } from '../load/load-process.ts';
import { completeCreate } from '../load/request-kinds.ts';
import { AUTHORIZATION, CLIENT, registerIn, startBenched } from '../servers/benched-service.ts';
import type { ServerProcess } from '../servers/server-process.ts';

export const MEASURED_ENGINES = ['embedded', 'eventstoredb', 'minio'] as const;
export type MeasuredEngine = (typeof MEASURED_ENGINES)[number];

/** Deposits of each release before the first that counts: V8 compiles the last hot functions after some 1,500. */
const WARM_UP_DEPOSITS = 2000;
const DEPOSITS = { embedded: 1000, eventstoredb: 200, minio: 200 } as const;
/** The least ratio of the rates, by engine and number of clients. */
const RATES: Record<MeasuredEngine, (clients: number) => number> = {
  embedded: (clients) => (clients >= 32 ? 3.5 : 2.5),
  eventstoredb: () => 4,
  minio: () => 2,
};
/** The most CPU milliseconds of a deposit, of all threads and of the main thread; others are only shown. */
const CPU_MS: Partial<Record<MeasuredEngine, { readonly all: number; readonly main?: number }>> = {
  embedded: { all: 2, main: 1.1 },
  eventstoredb: { all: 7 },
};

type Sides = { readonly ours: ServerProcess; readonly other: ServerProcess; readonly load: LoadProcess };

/** Compares this release with the one in another checkout: one node that does everything. */
export function depositsAgainst(other: string, engine: MeasuredEngine, clients: number): Goal {
  return {
    id: `${engine} ${clients}`,
    what: `deposits from request to done, ${clients} clients, against ${other}`,
    async measure(bench) {
      await using running = new AsyncDisposableStack();
      const minio = engine === 'minio' ? running.use(await startMinio()) : undefined;
      const start = async (name: string, release?: string): Promise<ServerProcess> =>
        startOn(
          running,
          path.join(bench.folder, name),
          await settingsOf(running, engine, minio, name),
          release,
        );
      const sides = {
        ours: await start('ours'),
        other: await start('other', other),
        load: running.use(new LoadProcess()),
      };
      return await compare(bench, sides, engine, clients); // before what runs is disposed of
    },
  };
}

async function startOn(
  running: AsyncDisposableStack,
  folder: string,
  env: Readonly<Record<string, string>>,
  release?: string,
): Promise<ServerProcess> {
  await mkdir(folder);
  {
    await using log = await openLog(readConfig({ ...env, DEPOSIT_DATA_DIR: folder }));
    await registerIn(log);
  }
  return running.use(await startBenched(folder, { env, ...(release !== undefined && { release }) }));
}

/** Starts one server for both releases, each with a bucket of its own. @throws {NotMeasured} no MinIO is installed */
async function startMinio(): Promise<MinioProcess> {
  const program = minioProgram();
  if (program === undefined) throw new NotMeasured('MINIO_BIN is not set, and no minio is on the path.');
  return await MinioProcess.start(program);
}

async function settingsOf(
  running: AsyncDisposableStack,
  engine: MeasuredEngine,
  minio: MinioProcess | undefined,
  bucket: string,
): Promise<Readonly<Record<string, string>>> {
  if (engine === 'eventstoredb')
    return { DEPOSIT_EVENT_LOG: running.use(await LogProcess.start()).connectionString };
  if (minio === undefined) return {};
  return {
    DEPOSIT_ARCHIVE_STORE: `s3://127.0.0.1:${minio.port}/${bucket}?tls=false`,
    DEPOSIT_S3_ACCESS_KEY: minio.accessKey,
    DEPOSIT_S3_SECRET_KEY: minio.secretKey,
  };
}

async function compare(
  bench: Bench,
  { ours, other, load }: Sides,
  engine: MeasuredEngine,
  clients: number,
): Promise<Comparison[]> {
  const used = { ours: [] as CpuTimes[], other: [] as CpuTimes[] };
  const measure = (name: keyof typeof used, server: ServerProcess, deposits: number) => async () => {
    const before = cpuTimesOf(server);
    const rate = await depositsPerSecond(load, server.url, clients, deposits);
    const after = cpuTimesOf(server);
    const perDeposit = (thread: keyof CpuTimes) => ((after[thread] - before[thread]) / deposits) * 1000;
    used[name].push({ all: perDeposit('all'), main: perDeposit('main') });
    return rate;
  };
  bench.tell(`${engine} ${clients}: ${WARM_UP_DEPOSITS} deposits of each release before`);
  await measure('ours', ours, WARM_UP_DEPOSITS)();
  await measure('other', other, WARM_UP_DEPOSITS)();
  const rates = await interleave(bench, `${engine} ${clients}`, {
    ours: measure('ours', ours, DEPOSITS[engine]),
    other: measure('other', other, DEPOSITS[engine]),
  });
  return [
    {
      what: 'from request to done',
      unit: 'deposits/s',
      ours: { name: 'this release', values: rates.ours },
      reference: { name: 'the other release', values: rates.other },
      wanted: atLeast(RATES[engine](clients)),
    },
    ...(['all', 'main'] as const).flatMap((thread): Comparison[] => {
      const what = `CPU time of a deposit, ${thread === 'all' ? 'all threads' : 'main thread'}`;
      const most = CPU_MS[engine]?.[thread];
      const of = (name: keyof typeof used) => used[name].slice(-bench.pairs).map((one) => one[thread]);
      const ours = { name: 'this release', values: of('ours') };
      const reference = { name: 'the other release', values: of('other') };
      return [
        { what, unit: 'ms', ours, wanted: most === undefined ? undefined : atMost(most) },
        { what: `${what}, beside the other release`, unit: 'ms', ours, reference, wanted: undefined },
      ];
    }),
  ];
}

/** CPU time of all threads and of the main thread, in one unit. */
type CpuTimes = { readonly all: number; readonly main: number };

function cpuTimesOf({ facts }: ServerProcess): CpuTimes {
  return { all: facts.cpuSeconds, main: facts.mainThreadCpuSeconds };
}

async function depositsPerSecond(
  load: LoadProcess,
  url: string,
  clients: number,
  deposits: number,
): Promise<number> {
  const before = await depositsDone(url);
  const started = performance.now();
  const request = completeCreate();
  await load.run({ url, clients, request, seconds: 600, requests: deposits });
  // A list writes the views first: asking more often would be part of what is measured.
  while ((await depositsDone(url)) < before + deposits) await pause(100);
  return (deposits / (performance.now() - started)) * 1000;
}

/** Asks the service for the number of deposits that are done. */
export async function depositsDone(url: string): Promise<number> {
  const list = `${url}/1/${CLIENT.collection}/?status=done&page_size=1`;
  const answer = await fetch(list, { headers: { Authorization: AUTHORIZATION } });
  return Number(/depositns:count>(\d+)</.exec(await answer.text())?.[1]);
}
