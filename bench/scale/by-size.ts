import path from 'node:path';
import { LoadProcess } from '../load/load-process.ts';
import { archiveCreate, zipLike } from '../load/request-kinds.ts';
import { prepareFolder, startBenched } from '../servers/benched-service.ts';
import { Curves, type Dimension } from './dimension.ts';

const MIB = 1024 ** 2;
const X = 'MiB of the upload';

/** Starts a service for each size, so that its peak of memory is that of this size. */
export const bySize: Dimension = {
  name: 'sizes',
  what: 'MiB of one upload',
  sizes: [1, 10, 100, 1024],
  async measure({ folder, tell }, sizes) {
    const [rates, memory] = [new Curves(), new Curves()];
    for (const size of sizes) {
      tell(`upload of ${size} MiB`);
      const dataDir = path.join(folder, `${size}-mib`);
      await prepareFolder(dataDir);
      await using service = await startBenched(dataDir, {
        env: { DEPOSIT_MAX_UPLOAD_SIZE: String(2048 * MIB) },
      });
      await using load = new LoadProcess();
      const request = { ...archiveCreate(zipLike(MIB)), times: size };
      const requests = Math.max(1, Math.min(10, Math.floor(200 / size)));
      const job = { url: service.url, clients: 1, request, seconds: 600 };
      await load.run({ ...job, request: archiveCreate(zipLike(MIB)), requests: 3 });
      const { median } = await load.run({ ...job, requests });
      rates.add('one at a time', size, (size * MIB) / 1000 / median);
      memory.add('the service, peak', size, service.facts.peakMemory);
    }
    return {
      'upload-by-size': rates.plot('An upload, by its size', X, 'MB/s'),
      'memory-by-size': memory.plot('Memory during an upload, by its size', X, 'MiB'),
    };
  },
};
