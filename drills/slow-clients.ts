import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../testing/processes/free-port.ts';
import { AnsweredDeposits, newTar } from './clients/answered-deposits.ts';
import { SlowClients, type SlowEnd, slowKinds, type Times } from './clients/slow-clients-at-work.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { percentile } from './frame/percentile.ts';
import { drilledFolder } from './service/drilled-service.ts';
import { openDescriptors, peakMemory } from './service/process-facts.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Connects slow clients during normal load: some send nothing, some their headers byte by byte, some a body that drips a
byte a second or stops. Each must be answered or cut off within the time that is documented for it, and the normal load
must not be affected.

  node drills/slow-clients.ts [--clients 200]
`;

/** Limit of a normal create during the slow requests, in milliseconds, at the 99th percentile. */
const UNHURT = 5_000;
/** Memory that many slow clients may cost, in MiB. */
const MOST_MEMORY = 400;
/** Default limits, and short ones. */
const [TIMES, SHORT_TIMES]: readonly [Times, Times] = [
  { headers: 15, body: 30 },
  { headers: 2, body: 3 },
];

await runDrill(HELP, { clients: { full: 200, short: 70 } }, async ({ clients, short }) =>
  drill(clients, short ? SHORT_TIMES : TIMES),
);

async function drill(clients: number, times: Times): Promise<Finding> {
  await using folder = await drilledFolder('slow');
  await using service = await ServiceProcess.start(folder.dataDir, await freePort(), settingsOf(times));
  const deposits = new AnsweredDeposits(service.url, []);
  await deposits.deposit(newTar(2_000), { isComplete: true });
  const before = await filesAndSockets(service);
  const kinds = slowKinds(times);
  const slow = new SlowClients(service.url, kinds, clients);
  const running = { now: true };
  const load = Array.from({ length: 2 }, async (_, writer) => {
    for (let turn = writer; running.now; turn += 1) {
      await deposits.deposit(newTar(turn % 3 === 0 ? 300_000 : 2_000), { isComplete: turn % 4 === 0 });
      await pause(50);
    }
  });
  const ticker = setInterval(
    () =>
      printProgress(
        `${slow.open} of ${clients} slow clients are still there; ${deposits.times.length} creates`,
      ),
    5000,
  ).unref();
  const ends = await slow.ended();
  running.now = false;
  await Promise.all(load);
  clearInterval(ticker);
  await pause(500); // for the last connections to be closed
  const left = (await filesAndSockets(service)) - before;
  const memory = await peakMemory(service.pid);
  const code = await service.end('SIGTERM');
  const p99 = percentile(deposits.times, 0.99);
  const broken = [
    ...deposits.faults,
    ...ends.flatMap(lateness),
    ...(p99 > UNHURT
      ? [`With the slow clients the 99th percentile of a create was ${Math.round(p99)} ms.`]
      : []),
    ...(memory > MOST_MEMORY ? [`The service had ${memory} MiB.`] : []),
    ...(left > 10 ? [`${left} more descriptors are open than before.`] : []),
    ...(code === 0 ? [] : [`The service ended with ${code}: ${service.said}`]),
  ];
  const longest = (name: string): number =>
    Math.round(Math.max(0, ...ends.filter(({ kind }) => kind.name === name).map(({ seconds }) => seconds)));
  return {
    tried: `${ends.length} slow clients (${kinds.map(({ name }) => name).join(', ')}) and two that deposited.`,
    held: `Each was answered or cut off in its time, and the concurrent creates were answered 201, in ${Math.round(p99)} ms at the 99th percentile.`,
    broken,
    numbers: {
      'slow clients': ends.length,
      'answered 4xx': ends.filter(({ status }) => status >= 400 && status < 500).length,
      'cut off': ends.filter(({ status }) => status === 0).length,
      creates: deposits.times.length,
      'p50, ms': Math.round(percentile(deposits.times, 0.5)),
      'p99, ms': Math.round(p99),
      'memory, MiB': memory,
      ...Object.fromEntries(kinds.map(({ name }) => [`${name}, longest, s`, longest(name)])),
    },
  };
}

/** Counts open files and sockets without those of threads, some of which start on demand. */
async function filesAndSockets({ pid }: ServiceProcess): Promise<number> {
  const targets = await openDescriptors(pid);
  return targets.filter((target) => !/^(?:anon_inode|pipe):/.test(target)).length;
}

function lateness({ kind, seconds, status, isOpen }: SlowEnd): string[] {
  if (isOpen || seconds > kind.within)
    return [
      `A client with ${kind.name} was there for ${Math.round(seconds)} s; ${kind.within} s are documented.`,
    ];
  return kind.answers.includes(status) ? [] : [`A client with ${kind.name} was answered ${status}.`];
}

function settingsOf({ headers, body }: Times): Record<string, string> {
  return {
    DEPOSIT_HEADERS_TIME: String(headers * 1000),
    DEPOSIT_BODY_TIME: String(body * 1000),
    DEPOSIT_BODY_PAUSE: String(body * 1000),
  };
}
