import path from 'node:path';
import { clientLogins } from '../../projections/client-logins.ts';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { Credentials } from '../../src/http/middleware/credentials.ts';
import { Projector } from '../../src/views/projector.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import { atLeast, atMost, type Goal } from '../frame/goal.ts';
import { interleave } from '../frame/interleave.ts';
import { LoadProcess } from '../load/load-process.ts';
import { archiveCreate, statusGet, zipLike } from '../load/request-kinds.ts';
import { AUTHORIZATION, CLIENT, prepareFolder, startBenched } from '../servers/benched-service.ts';
import { type ServerProcess, startReference } from '../servers/server-process.ts';

const [CLIENTS, SECONDS] = [16, 2.5];

/** Counts requests per second of the server's CPU time, which does not depend on other load on the machine. */
export const readStatus: Goal = {
  id: 'G7',
  what: `GET status, ${CLIENTS} clients`,
  async measure(bench) {
    const dataDir = path.join(bench.folder, 'data');
    await prepareFolder(dataDir);
    await using service = await startBenched(dataDir);
    await using load = new LoadProcess();
    await makeDeposit(load, service);
    await using bare = await startReference('bare-get-server.ts', await answerOf(service));
    const found = await interleave(bench, 'G7', {
      service: () => requestsPerCpuSecond(load, service),
      bare: () => requestsPerCpuSecond(load, bare),
    });
    return [
      {
        what: 'requests for a second of CPU time of the server',
        unit: 'requests/s',
        ours: { name: 'service', values: found.service },
        reference: { name: 'bare node:http', values: found.bare },
        wanted: atLeast(0.55),
      },
    ];
  },
};

const CHECKS = 50_000;

/** Compares the credentials check alone, on the view of the service, with a whole GET of the service. */
export const credentialsCheck: Goal = {
  id: 'G8',
  what: 'share of the credentials check in a GET status',
  async measure(bench) {
    const dataDir = path.join(bench.folder, 'data');
    await prepareFolder(dataDir);
    await using service = await startBenched(dataDir);
    await using load = new LoadProcess();
    await makeDeposit(load, service);
    await using log = await SqliteEventLog.open({
      file: path.join(dataDir, 'event-log.sqlite'),
      readOnly: true,
    });
    using views = new SqliteViewStore(path.join(bench.folder, 'views'), 'sqlite');
    const projector = new Projector(log, views);
    const credentials = new Credentials(projector.add(clientLogins), async () => undefined);
    await projector.start((error) => process.stderr.write(`${String(error)}\n`));
    const found = await interleave(bench, 'G8', {
      check: () => microsecondsOfCheck(credentials),
      get: async () => 1e6 / (await requestsPerCpuSecond(load, service)),
    });
    await projector.stop();
    return [
      {
        what: 'CPU time',
        unit: 'µs',
        ours: { name: 'credentials check', values: found.check },
        reference: { name: 'GET status, all of it', values: found.get },
        wanted: atMost(0.05),
      },
    ];
  },
};

async function makeDeposit(load: LoadProcess, { url }: ServerProcess): Promise<void> {
  await load.run({ url, clients: 1, request: archiveCreate(zipLike(2048)), seconds: 60, requests: 1 });
}

async function requestsPerCpuSecond(load: LoadProcess, server: ServerProcess): Promise<number> {
  const before = server.facts.cpuSeconds;
  const job = { url: server.url, clients: CLIENTS, request: statusGet(1), seconds: SECONDS };
  const { requests } = await load.run(job);
  return requests / (server.facts.cpuSeconds - before);
}

/** Resolves to the answer of the service, for the reference server to send. */
async function answerOf({ url }: ServerProcess) {
  const answer = await fetch(`${url}${statusGet(1).path}`, { headers: { Authorization: AUTHORIZATION } });
  const body = await answer.text();
  const own = ['connection', 'date', 'keep-alive'];
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !own.includes(name)));
  return { ...CLIENT, status: answer.status, headers, body };
}

/** Resolves to the time of a check of credentials that were verified before on the connection, as in most requests. */
async function microsecondsOfCheck(credentials: Credentials): Promise<number> {
  const [address, connection] = ['127.0.0.1', {}];
  await credentials.verify(AUTHORIZATION, address, connection);
  const before = process.threadCpuUsage();
  for (let turn = 0; turn < CHECKS; turn += 1) credentials.cachedLogin(AUTHORIZATION, address, connection);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / CHECKS;
}
