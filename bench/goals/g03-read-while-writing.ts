import path from 'node:path';
import { atMost, type Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import { NotMeasured } from '../frame/not-measured.ts';
import { slowSyncs } from '../frame/slow-syncs.ts';
import { median } from '../frame/statistics.ts';
import { LoadProcess } from '../load/load-process.ts';
import { archiveCreate, statusGet, zipLike } from '../load/request-kinds.ts';
import { prepareFolder, startBenched } from '../servers/benched-service.ts';

const [READERS, WRITERS, SECONDS] = [16, 4, 3];

/**
 * Runs the service with syncs that take 2 ms longer. Readers send requests as fast as they are answered, with and
 * without concurrent writers that create deposits: a sync that blocks the main thread shows in the slowest answers.
 */
export const readWhileWriting: Goal = {
  id: 'G3',
  what: `GET p99 during writes with 2 ms syncs, ${READERS} readers, ${WRITERS} writers`,
  async measure(bench) {
    const env = bench.addedSyncTime > 0 ? {} : slowSyncs(2, bench.folder);
    if (!env)
      throw new NotMeasured('It needs cc, to make syncs slower; --slow-fsync 2ms can do it with strace.');
    const dataDir = path.join(bench.folder, 'data');
    await prepareFolder(dataDir);
    await using service = await startBenched(dataDir, { env });
    const { url } = service;
    await using reading = new LoadProcess();
    await using writing = new LoadProcess();
    const creates = { url, clients: WRITERS, request: archiveCreate(zipLike(2048)), seconds: SECONDS };
    await writing.run({ ...creates, requests: 1 }); // the deposit that readers request
    const gets = { url, clients: READERS, request: statusGet(1), seconds: SECONDS };
    const written: number[] = [];
    const found = await interleave(bench, 'G3', {
      withWrites: async () => {
        const [read, created] = await Promise.all([reading.run(gets), writing.run(creates)]);
        written.push(created.requests / created.seconds);
        return read.p99;
      },
      without: async () => (await reading.run(gets)).p99,
    });
    return [
      {
        what: 'p99 of GET',
        unit: 'ms',
        ours: { name: 'with writes', values: found.withWrites },
        reference: { name: 'without writes', values: found.without },
        wanted: atMost(1.5),
        note: `${Math.round(median(written))} creates/s beside the readers`,
      },
    ];
  },
};
