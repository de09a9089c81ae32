import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { secondsOf } from '../frame/interleave.ts';
import { inNewFolder, rebuild } from '../goals/g12-rebuild.ts';
import { catchUp } from '../goals/g13-start.ts';
import { LoadProcess } from '../load/load-process.ts';
import { archiveCreate, listGet, statusGet, zipLike } from '../load/request-kinds.ts';
import { startBenched } from '../servers/benched-service.ts';
import { Curves, type Dimension, type ScaleBench } from './dimension.ts';

const X = 'deposits in the log';

/** Sends one request at a time: it measures the cost of one, not the throughput. */
export const byDeposits: Dimension = {
  name: 'deposits',
  what: 'deposits in the log, of seven events each',
  sizes: [10_000, 100_000, 1_000_000],
  async measure(bench, sizes) {
    const [requests, bulk, space] = [new Curves(), new Curves(), new Curves()];
    for (const size of sizes) {
      const dataDir = await bench.inputs.manyDeposits(size);
      bench.tell(`${size} deposits: views`);
      await catchUp(dataDir);
      await measureService(bench, dataDir, size, { requests, bulk, space });
      bench.tell(`${size} deposits: rebuild`);
      bulk.add('rebuild of all views', size, await timedRebuild(bench.folder, dataDir));
      space.add('event log on disk', size, bytesIn(dataDir, /^event-log/) / 1024 ** 2);
      space.add('views on disk', size, bytesIn(path.join(dataDir, 'views'), /./) / 1024 ** 2);
    }
    return {
      'requests-by-deposits': requests.plot('A request, by the deposits there are', X, 'ms, median'),
      'start-by-deposits': bulk.plot('Start and rebuild, by the deposits there are', X, 's'),
      'space-by-deposits': space.plot('Memory and disk, by the deposits there are', X, 'MiB'),
    };
  },
};

async function measureService(
  { tell }: ScaleBench,
  dataDir: string,
  size: number,
  { requests, bulk, space }: Readonly<Record<'requests' | 'bulk' | 'space', Curves>>,
): Promise<void> {
  tell(`${size} deposits: requests`);
  const started = performance.now();
  await using service = await startBenched(dataDir);
  bulk.add('start to ready', size, (performance.now() - started) / 1000);
  await using load = new LoadProcess();
  const pages = Math.ceil(size / 100);
  const kinds = {
    create: archiveCreate(zipLike(2048)),
    status: statusGet(Math.ceil(size / 2)),
    'list, first page': listGet(''),
    'list, last page': listGet(`?page=${pages}`),
  };
  for (const [name, request] of Object.entries(kinds)) {
    const job = { url: service.url, clients: 1, request };
    await load.run({ ...job, seconds: 1 });
    const before = service.facts.cpuSeconds;
    const { median, requests: sent } = await load.run({ ...job, seconds: 3 });
    requests.add(name, size, median);
    requests.add(`${name}, CPU`, size, ((service.facts.cpuSeconds - before) * 1000) / sent);
  }
  space.add('memory, peak', size, service.facts.peakMemory);
}

/** Resolves to the seconds. */
async function timedRebuild(parent: string, dataDir: string): Promise<number> {
  await using log = await SqliteEventLog.open({
    file: path.join(dataDir, 'event-log.sqlite'),
    readOnly: true,
  });
  return await inNewFolder(parent, (folder) => secondsOf(() => rebuild(log, folder)));
}

function bytesIn(folder: string, names: RegExp): number {
  const files = readdirSync(folder).filter((name) => names.test(name));
  return files.reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
}
