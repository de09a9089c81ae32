import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../src/config/read-config.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { entryHeaders, partial } from '../testing/http/deposit-bodies.ts';
import { TestClient } from '../testing/http/test-client.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { percentile } from './frame/percentile.ts';
import { DRILL_PASSWORD, drillClient, drilledFolder, registerIn } from './service/drilled-service.ts';
import { peakMemory, processorTime } from './service/process-facts.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Has one client ask on 1,200 connections for a page of 1,000 deposits and read nothing of the answers, for 35 seconds.
Meanwhile another client reads a status. Bounds: 600 MiB, 1 s at the 99th percentile of the status, and no more work
2 s after the client has closed its connections.

  node drills/unread-answers.ts [--connections 1200]
`;

const MAX_MEMORY_MIB = 600;
const MAX_STATUS_MS = 1000;
/** Time limit of one status. */
const STATUS_TIMEOUT_MS = 10_000;
const WORK_ENDS_MS = 2000;
/** Maximum share of one core that the idle service may use once the work has ended. */
const MAX_IDLE_CPU = 0.2;
const PAGE_SIZE = 1000;
/** Length of a title, in characters: a page has the 2.7 MB that the attack was seen with. */
const TITLE_LENGTH = 1200;

await runDrill(HELP, { connections: { full: 1200, short: 300 } }, async ({ connections, short }) =>
  drill(connections, short ? 8 : 35),
);

async function drill(connections: number, seconds: number): Promise<Finding> {
  await using folder = await drilledFolder('unread');
  {
    await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: folder.dataDir }));
    await registerIn(log, 'other', DRILL_PASSWORD);
  }
  await using service = await ServiceProcess.start(folder.dataDir, await freePort());
  const client = drillClient(service.url);
  await fillCollection(client);
  const other = new TestClient(service.url, 'other', DRILL_PASSWORD);
  const status = await statusOf(other);
  const before = await peakMemory(service.pid);

  const times: number[] = [];
  const faults: string[] = [];
  const running = { now: true };
  const reading = (async () => {
    while (running.now) {
      const started = performance.now();
      const answered = await other
        .send('GET', status, { signal: AbortSignal.timeout(STATUS_TIMEOUT_MS) })
        .then(
          async (answer) => {
            await answer.text();
            return String(answer.status);
          },
          ({ name }: Error) => name,
        );
      times.push(performance.now() - started);
      if (answered !== '201') faults.push(`A status was answered ${answered}.`);
      await pause(20);
    }
  })();
  const unread = Array.from({ length: connections }, () => unreadAnswer(service.url, client.authorization));
  for (let second = 0; second < seconds; second += 1) {
    await pause(1000);
    printProgress(`${second + 1} s: ${await peakMemory(service.pid)} MiB, ${times.length} statuses read`);
  }
  for (const socket of unread) socket.destroy();
  running.now = false;
  await reading;
  await pause(WORK_ENDS_MS);
  const idleFrom = await processorTime(service.pid);
  await pause(1000);
  const cpu = ((await processorTime(service.pid)) - idleFrom) / 1000;
  const memory = await peakMemory(service.pid);
  const code = await service.end('SIGTERM');
  const p99 = percentile(times, 0.99);
  return {
    tried: `One client asked for ${PAGE_SIZE} deposits on ${connections} connections and read nothing for ${seconds} s.`,
    held: `The service had ${memory} MiB, statuses of another client took ${Math.round(p99)} ms at the 99th percentile, and the work ended with the client.`,
    broken: [
      ...new Set(faults),
      ...(memory > MAX_MEMORY_MIB ? [`The service had ${memory} MiB.`] : []),
      ...(p99 > MAX_STATUS_MS ? [`The 99th percentile of a status was ${Math.round(p99)} ms.`] : []),
      ...(cpu > MAX_IDLE_CPU
        ? [
            `${WORK_ENDS_MS} ms after the client had gone, the service used ${Math.round(cpu * 100)} % of a core.`,
          ]
        : []),
      ...(code === 0 ? [] : [`The service ended with ${code}: ${service.said}`]),
    ],
    numbers: {
      connections,
      'statuses read': times.length,
      'p50, ms': Math.round(percentile(times, 0.5)),
      'p99, ms': Math.round(p99),
      'memory before, MiB': before,
      'memory, MiB': memory,
    },
  };
}

/** Creates a page of deposits. */
async function fillCollection(client: TestClient): Promise<void> {
  const next = { number: 0 };
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (next.number < PAGE_SIZE) {
        next.number += 1;
        await createDeposit(client, `${next.number} ${'x'.repeat(TITLE_LENGTH)}`);
      }
    }),
  );
}

async function createDeposit(client: TestClient, title: string): Promise<Response> {
  const entry = `<entry xmlns="http://www.w3.org/2005/Atom"><title>${title}</title></entry>`;
  const answer = await client.post('/1/drill/', entry, { ...entryHeaders(), ...partial });
  if (answer.status !== 201)
    throw new Error(`A deposit was answered ${answer.status}: ${await answer.text()}`);
  return answer;
}

/** Creates a deposit, and resolves to the path of its status. */
async function statusOf(client: TestClient): Promise<string> {
  const { headers } = await createDeposit(client, 'Watched');
  return new URL('../status/', headers.get('location') ?? '').pathname;
}

/** Sends the request and reads nothing of its answer but what the system buffers. */
function unreadAnswer(url: string, authorization: string): net.Socket {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  socket.on('error', () => undefined); // the service may close the connection
  socket.pause();
  socket.write(
    `GET /1/drill/?page_size=${PAGE_SIZE} HTTP/1.1\r\nHost: drill\r\nAuthorization: ${authorization}\r\n\r\n`,
  );
  return socket;
}
