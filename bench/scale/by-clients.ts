import path from 'node:path';
import { LoadProcess } from '../load/load-process.ts';
import { archiveCreate, statusGet, zipLike } from '../load/request-kinds.ts';
import { prepareFolder, startBenched } from '../servers/benched-service.ts';
import { Curves, type Dimension } from './dimension.ts';

const X = 'clients at the same time';

export const byClients: Dimension = {
  name: 'clients',
  what: 'clients at the same time, each with one request under way',
  sizes: [1, 4, 16, 64, 256],
  async measure({ folder, tell }, sizes) {
    const [rates, times] = [new Curves(), new Curves()];
    const dataDir = path.join(folder, 'clients');
    await prepareFolder(dataDir);
    // All of them log in as one client, which gets three quarters of the slots.
    await using service = await startBenched(dataDir, { env: { DEPOSIT_MAX_WRITES: '512' } });
    await using load = new LoadProcess();
    const kinds = { create: archiveCreate(zipLike(2048)), status: statusGet(1) };
    for (const clients of sizes) {
      for (const [name, request] of Object.entries(kinds)) {
        tell(`${clients} clients: ${name}`);
        const job = { url: service.url, clients, request };
        await load.run({ ...job, seconds: 1 });
        const report = await load.run({ ...job, seconds: 3 });
        rates.add(name, clients, report.requests / report.seconds);
        times.add(`${name}, median`, clients, report.median);
        times.add(`${name}, p99`, clients, report.p99);
      }
    }
    return {
      'rate-by-clients': rates.plot('Requests, by the clients at the same time', X, 'requests/s'),
      'time-by-clients': times.plot('A request, by the clients at the same time', X, 'ms'),
    };
  },
};
