import { hash } from 'node:crypto';
import { once } from 'node:events';
import type http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { archiveHeaders, partial } from '../testing/http/deposit-bodies.ts';
import type { TestClient } from '../testing/http/test-client.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { newTar } from './clients/answered-deposits.ts';
import { MixedLoad } from './clients/mixed-load.ts';
import { promisesKept } from './clients/promises-kept.ts';
import { bareRequest, UploadsUnderWay } from './clients/uploads-under-way.ts';
import type { Ledger } from './clients/watched-deposit.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { drillClient, drilledFolder } from './service/drilled-service.ts';
import { everythingVerified } from './service/everything-verified.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Stops the service with SIGTERM under a mixed load, while streams of events are open, an archive arrives slowly, an
upload waits for its next chunk and a chunk of another one drips. It has to end with 0 in less than 30 s, answer what
was begun, and keep what it answered.

  node drills/sigterm-under-load.ts [--rounds 5]
`;

const LONGEST = 30_000;
/** Errors of a request that the service has not received: no process listened, or its connection was closed unread. */
const NOT_TAKEN = new Set(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET']);
/** Number of parts of a slow body, and the milliseconds between them. */
const [PARTS, PART_EVERY] = [20, 100];

type Tally = {
  signals: number;
  slowest: number;
  /** Requests that were open at the signal and were answered. */
  answered: number;
  readonly broken: string[];
};

await runDrill(HELP, { rounds: { full: 5, short: 1 } }, ({ rounds, short }) =>
  // A slow chunk is given five seconds, for which the short form has no time.
  drill(rounds, !short),
);

async function drill(rounds: number, drips: boolean): Promise<Finding> {
  await using folder = await drilledFolder('sigterm');
  const { dataDir } = folder;
  const port = await freePort();
  const client = drillClient(`http://127.0.0.1:${port}`);
  const tally: Tally = { signals: 0, slowest: 0, answered: 0, broken: [] };
  // An idle connection is closed at the signal; an error of a request on it would not be the service's.
  const load = new MixedLoad(client, { headers: { Connection: 'close' } });
  for (let round = 1; round <= rounds; round += 1) {
    await using service = await ServiceProcess.start(dataDir, port);
    const uploads = await UploadsUnderWay.begin(client);
    await pause(500 + Math.random() * 700);
    const seconds = await stopped(service, load.ledger, uploads, tally, client, drips);
    printProgress(`round ${round} of ${rounds}: ended after ${seconds.toFixed(1)} s`);
    await using again = await ServiceProcess.start(dataDir, port);
    tally.broken.push(...(await uploads.faults(drips)));
    await again.end('SIGTERM');
  }
  await using last = await ServiceProcess.start(dataDir, port);
  await pause(300);
  await load.stop();
  const { ledger } = load;
  const kept = await promisesKept(ledger, client, dataDir);
  const dangling = await everythingVerified(dataDir);
  const closed = (ledger.errors.get('ECONNRESET') ?? 0) + (ledger.errors.get('UND_ERR_SOCKET') ?? 0);
  await last.end('SIGTERM');
  return {
    tried: `SIGTERM ${tally.signals} times under 4 writers, with event streams open, a slow archive and resumable uploads in progress; ${ledger.acknowledged} writes acknowledged.`,
    held: `It ended with 0 each time, after ${tally.slowest.toFixed(1)} s at the most; slow requests in progress were answered, nothing was done of the ${closed} whose connections closed unanswered, and all that was acknowledged is there.`,
    broken: [
      ...tally.broken,
      ...ledger.faults,
      ...[...ledger.errors]
        .filter(([code]) => !NOT_TAKEN.has(code))
        .map(([code, times]) => `${times} requests ended without an answer: ${code}.`),
      ...kept.doneUnanswered.map(
        (create) => `A create was done and its connection closed without an answer: ${create}.`,
      ),
      ...kept.lost,
      ...kept.doubled,
      ...kept.stuck,
      ...dangling,
    ],
    numbers: {
      signals: tally.signals,
      acknowledged: ledger.acknowledged,
      'begun and answered': tally.answered,
      'closed before they were begun': closed,
      lost: kept.lost.length,
      doubled: kept.doubled.length,
      dangling: dangling.length,
      stuck: kept.stuck.length,
    },
  };
}

/** Resolves to the seconds it took to end. */
async function stopped(
  service: ServiceProcess,
  ledger: Ledger,
  uploads: UploadsUnderWay,
  tally: Tally,
  client: TestClient,
  drips: boolean,
): Promise<number> {
  const streams = await Promise.all([openStream(client), openStream(client)]);
  const slow = slowCreate(client, ledger);
  const dripping = drips ? uploads.drip() : undefined;
  await pause(300);
  const begun = performance.now();
  tally.signals += 1;
  const code = await Promise.race([service.end('SIGTERM'), pause(LONGEST, 'late' as const, { ref: false })]);
  const seconds = (performance.now() - begun) / 1000;
  tally.slowest = Math.max(tally.slowest, seconds);
  if (code !== 0) tally.broken.push(`After SIGTERM it ended with ${code} after ${seconds.toFixed(1)} s.`);
  const status = await slow;
  if (status === 201) tally.answered += 1;
  else tally.broken.push(`An archive that arrived slowly when SIGTERM came was answered ${status}.`);
  const ends = await Promise.allSettled(streams.map((stream) => stream.text()));
  const cut = ends.filter((end) => end.status === 'rejected').length;
  if (cut > 0) tally.broken.push(`${cut} streams of events were cut instead of ended.`);
  await dripping;
  return seconds;
}

async function openStream(client: TestClient): Promise<Response> {
  const answer = await client.get('/1/drill/events/', { Accept: 'text/event-stream' });
  if (answer.status !== 200) throw new Error(`A stream of events was answered ${answer.status}.`);
  return answer;
}

/** Resolves to the status of a create whose body takes about two seconds, or to the error that broke it. */
async function slowCreate(client: TestClient, { creates }: Ledger): Promise<number | string> {
  const archive = newTar(100_000);
  creates.add(hash('sha256', archive));
  const headers = {
    ...archiveHeaders('a.tar', 'application/x-tar'),
    ...partial,
    'Content-Length': archive.length,
  };
  const request = bareRequest(client, 'POST', '/1/drill/', headers);
  const answer = once(request, 'response').then(
    ([response]) => (response as http.IncomingMessage).statusCode ?? 0,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
  const size = Math.ceil(archive.length / PARTS);
  for (let at = 0; at < archive.length; at += size) {
    request.write(archive.subarray(at, at + size));
    await pause(PART_EVERY);
  }
  request.end();
  return answer;
}
