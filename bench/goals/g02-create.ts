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
 * Runs the service twice, each on its own folder: unchanged, and on a log that is a group-commit file read from memory.
 * Each create is a deposit with an archive.
 */
export const create: Goal = {
  id: 'G2',
  what: `durable create over HTTP, ${ARCHIVE_BYTES} bytes, ${CLIENTS} clients`,
  async measure(bench) {
    const folder = (name: string) => path.join(bench.folder, name);
    await using service = await startOn(folder('service'));
    await using rawLog = await startOnRawLog(folder('raw-log'));
    await using load = new LoadProcess();
    const request = archiveCreate(zipLike(ARCHIVE_BYTES));
    const rate =
      ({ url }: ServerProcess) =>
      async () => {
        const done = await load.run({ url, clients: CLIENTS, request, seconds: SECONDS });
        return done.requests / done.seconds;
      };
    const found = await interleave(bench, 'G2', { service: rate(service), rawLog: rate(rawLog) });
    return [
      {
        what: 'beside a raw log',
        unit: 'creates/s',
        ours: { name: 'service', values: found.service },
        reference: { name: 'service on a raw log', values: found.rawLog },
        wanted: atLeast(0.85),
      },
    ];
  },
};

const HOOK = path.join(import.meta.dirname, '..', 'servers', 'with-other-log.ts');

async function startOn(folder: string): Promise<ServerProcess> {
  await prepareFolder(folder);
  return startBenched(folder);
}

async function startOnRawLog(folder: string): Promise<ServerProcess> {
  await mkdir(folder);
  {
    await using log = await RawFileLog.open(path.join(folder, 'event-log.sqlite.raw'));
    await registerIn(log);
  }
  return startBenched(folder, {
    nodeArgs: ['--import', HOOK],
    env: { BENCH_EVENT_LOG: 'open-raw-file-log' },
  });
}
