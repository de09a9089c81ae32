import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { atLeast, type Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import { LoadProcess } from '../load/load-process.ts';
import { archiveCreate, zipLike } from '../load/request-kinds.ts';
import { RawFileLog } from '../references/raw-file-log.ts';
import { prepareFolder, registerIn, startBenched } from '../servers/benched-service.ts';
import type { ServerProcess } from '../servers/server-process.ts';

const CLIENTS = 32;
const SECONDS = 2;
const ARCHIVE_BYTES = 2048;

/**
 * Runs the service three times, each on its own folder: unchanged, on a log that is a group-commit file read from
 * memory, and on its own log file with a transaction for each append. Each create is a deposit with an archive.
 */
export const create: Goal = {
  id: 'G2',
  what: `durable create over HTTP, ${ARCHIVE_BYTES} bytes, ${CLIENTS} clients`,
  async measure(bench) {
    const folder = (name: string) => path.join(bench.folder, name);
    await using service = await startOn(folder('service'));
    await using rawLog = await startOnRawLog(folder('raw-log'));
    await using oneByOne = await startOn(folder('one-by-one'), 'open-one-by-one-log');
    await using load = new LoadProcess();
    const request = archiveCreate(zipLike(ARCHIVE_BYTES));
    const rate =
      ({ url }: ServerProcess) =>
      async () => {
        const done = await load.run({ url, clients: CLIENTS, request, seconds: SECONDS });
        return done.requests / done.seconds;
      };
    const found = await interleave(bench, 'G2', {
      service: rate(service),
      rawLog: rate(rawLog),
      oneByOne: rate(oneByOne),
    });
    const ours = { name: 'service', values: found.service };
    return [
      {
        what: 'beside a raw log',
        unit: 'creates/s',
        ours,
        reference: { name: 'service on a raw log', values: found.rawLog },
        wanted: atLeast(0.85),
      },
      {
        what: 'beside one transaction per append',
        unit: 'creates/s',
        ours,
        reference: { name: 'service, one transaction per append', values: found.oneByOne },
        wanted: atLeast(bench.addedSyncTime >= 2 ? 12 : 3),
      },
    ];
  },
};

const HOOK = path.join(import.meta.dirname, '..', 'servers', 'with-other-log.ts');

async function startOn(folder: string, otherLog?: string): Promise<ServerProcess> {
  await prepareFolder(folder);
  return startWith(folder, otherLog);
}

async function startOnRawLog(folder: string): Promise<ServerProcess> {
  await mkdir(folder);
  {
    await using log = await RawFileLog.open(path.join(folder, 'event-log.sqlite.raw'));
    await registerIn(log);
  }
  return startWith(folder, 'open-raw-file-log');
}

function startWith(folder: string, otherLog: string | undefined): Promise<ServerProcess> {
  if (otherLog === undefined) return startBenched(folder);
  return startBenched(folder, { nodeArgs: ['--import', HOOK], env: { BENCH_EVENT_LOG: otherLog } });
}
