import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { readConfig } from '../src/config/read-config.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { contentId } from '../src/swhid/content.ts';
import { type Directory, directoryId } from '../src/swhid/directory.ts';
import { tarOf } from '../testing/archives/archive-builders.ts';
import { archivePart, entryPart, final, formOf, formType } from '../testing/http/deposit-bodies.ts';
import { TestClient } from '../testing/http/test-client.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { percentile } from './frame/percentile.ts';
import { registerIn, scratchFolder, settled } from './service/drilled-service.ts';
import { peakMemory, processorTime } from './service/process-facts.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Has one client read large directories and contents by their SWHID, 160 requests at a time, and leave without having
read the answers. The status reads of another client must stay quick, the memory must stay bounded, and the work for the
first client must end with its requests.

  node drills/unbounded-reads.ts [--requests 160] [--files 99000] [--seconds 10]
`;

/** Limit of a status read at the 99th percentile, in milliseconds, and of the memory, in MiB. */
const [MAX_P99_MS, MAX_MEMORY] = [1000, 600];
/** Time after the client has gone in which its work must end, in milliseconds. */
const MAX_END_MS = 2000;

await runDrill(
  HELP,
  { requests: 160, files: 99_000, seconds: { full: 10, short: 3 } },
  async ({ requests, files, seconds }) => drill(requests, files, seconds),
);

type Reading = { readonly what: string; readonly swhid: string; readonly accept: string };

async function drill(requests: number, files: number, seconds: number): Promise<Finding> {
  await using folder = await scratchFolder('reads');
  {
    await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: folder.path }));
    for (const name of ['attacker', 'other']) await registerIn(log, name, name);
  }
  await using service = await ServiceProcess.start(folder.path, await freePort());
  const [attacker, other] = ['attacker', 'other'].map((name) => new TestClient(service.url, name, name));
  if (!attacker || !other) throw new Error('Both are there.');
  // Both are made before the first request: meanwhile the service may close a connection that is kept.
  const [few, many] = [depositOf(3), depositOf(files)];
  const status = await deposited(other, few);
  const uploaded = await deposited(attacker, many);
  await settled(folder.path);
  const [broken, times]: [string[], number[]] = [[], []];
  const numbers: Record<string, number> = {};
  for (const reading of readingsOf(files)) {
    const before = times.length;
    const { ended, used, answers } = await attack(
      service,
      reading,
      { attacker, other, status, times },
      requests,
      seconds,
    );
    const p99 = percentile(times.slice(before), 0.99);
    printProgress(
      `${reading.what}: ${answers} answers, status p99 ${Math.round(p99)} ms, ended after ${ended} ms, ${used} ms of processor time`,
    );
    numbers[`${reading.what}: status p99, ms`] = Math.round(p99);
    numbers[`${reading.what}: work ended after, ms`] = ended;
    numbers[`${reading.what}: processor time after, ms`] = used;
    if (p99 > MAX_P99_MS)
      broken.push(`During ${reading.what} a status read took ${Math.round(p99)} ms (p99).`);
    // On a busy machine the time is that of others, too.
    if (ended > MAX_END_MS) broken.push(`The work for ${reading.what} continued for ${ended} ms.`);
  }
  const memory = await peakMemory(service.pid);
  if (memory > MAX_MEMORY) broken.push(`The service had ${memory} MiB.`);
  if (!(await isReadable(attacker, readingsOf(files)))) broken.push('A directory cannot be read afterwards.');
  const code = await service.end('SIGTERM');
  if (code !== 0) broken.push(`The service ended with ${code}: ${service.said}`);
  return {
    tried: `${requests} reads at a time, for ${seconds} s each of ${readingsOf(files).length} kinds, of a deposit with ${files} empty files (${uploaded}), without reading the answers.`,
    held: `The status reads of another client took ${Math.round(percentile(times, 0.99))} ms at the 99th percentile, the service had ${memory} MiB at the most, and each kind of work ended in ${MAX_END_MS} ms after the client had gone.`,
    broken,
    numbers: { 'status reads': times.length, 'memory, MiB': memory, ...numbers },
  };
}

/** Returns the reads: each is expensive in another way. */
function readingsOf(files: number): Reading[] {
  const id = contentId(Buffer.alloc(0));
  const many: Directory = new Map(
    Array.from({ length: files }, (_, number) => [String(number), { mode: '100644', id }]),
  );
  const root = `swh:1:dir:${directoryId(new Map([['f', new Map([['many', many]])]]))}`;
  const folder = `swh:1:dir:${directoryId(many)}`;
  const missing = `swh:1:cnt:${contentId(Buffer.from('in no deposit'))}`;
  return [
    { what: 'bytes of a directory', swhid: folder, accept: 'application/octet-stream' },
    { what: 'a tar of a directory', swhid: root, accept: 'application/x-tar' },
    { what: 'a description of a directory', swhid: folder, accept: 'application/xml' },
    { what: 'a content that is missing', swhid: missing, accept: 'application/xml' },
  ];
}

async function attack(
  service: ServiceProcess,
  { swhid, accept }: Reading,
  { attacker, other, status, times }: Parties,
  requests: number,
  seconds: number,
): Promise<Idle & { answers: number }> {
  const gone = new AbortController();
  const target = new URL(`/1/resolve/${swhid}`, service.url);
  const options = {
    agent: false,
    signal: gone.signal,
    headers: { accept, authorization: attacker.authorization },
  };
  let answers = 0;
  const reads = Array.from({ length: requests }, async () => {
    while (!gone.signal.aborted) {
      const status = await unreadAnswer(target, options);
      if (status !== undefined) answers += 1;
      if (status !== 200) await pause(100);
    }
  });
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    const begun = performance.now();
    const answer = await other.get(status).catch(() => undefined); // a pooled connection may have been closed
    await answer?.text();
    times.push(performance.now() - begun);
    await pause(20);
  }
  gone.abort();
  await Promise.all(reads);
  return { ...(await idleAfter(service.pid)), answers };
}

/** Sends a request and reads nothing of the answer for a second. Resolves to its status. */
async function unreadAnswer(target: URL, options: RequestOptions): Promise<number | undefined> {
  const sent = request(target, options)
    .on('error', () => undefined)
    .end();
  const [answer] = (await once(sent, 'response').catch(() => [])) as [IncomingMessage?];
  if (answer?.statusCode === 200)
    await pause(1000, undefined, { signal: options.signal }).catch(() => undefined);
  sent.destroy();
  return answer?.statusCode;
}

type Parties = {
  readonly attacker: TestClient;
  readonly other: TestClient;
  /** Path of the status that the other client reads. */
  readonly status: string;
  /** Milliseconds of each of its reads. */
  readonly times: number[];
};

type Idle = {
  /** Milliseconds until the process used less than a tenth of a core for half a second. */
  readonly ended: number;
  /** Processor time that it used until then, in milliseconds. */
  readonly used: number;
};

async function idleAfter(pid: number): Promise<Idle> {
  const [begun, atStart] = [performance.now(), await processorTime(pid)];
  let [idleSince, before, used] = [begun, atStart, 0];
  while (performance.now() - idleSince < 500 && performance.now() - begun < 120_000) {
    await pause(100);
    const now = await processorTime(pid);
    if (now - before > 10) [idleSince, used] = [performance.now(), now - atStart];
    before = now;
  }
  return { ended: Math.round(idleSince - begun), used };
}

/** Returns the form with an entry and a tar of that number of empty files. */
function depositOf(count: number): Uint8Array {
  const files = Array.from({ length: count }, (_, number) => ({ name: `f/many/${number}`, data: '' }));
  const bytes = gzipSync(tarOf(files));
  return new Uint8Array(formOf([archivePart(bytes, 'a.tar.gz', 'application/x-tar'), entryPart()]));
}

/** Makes a deposit. Resolves to the path of the status. */
async function deposited(client: TestClient, body: Uint8Array): Promise<string> {
  const answer = await client.post('/1/drill/', body, { ...formType, ...final });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`The deposit was answered ${answer.status}: ${text}`);
  return `/1/drill/${/<deposit_id>(\d+)</.exec(text)?.[1]}/status/`;
}

/** Whether each object can still be read, after some attempts. */
async function isReadable(client: TestClient, readings: readonly Reading[]): Promise<boolean> {
  for (const { swhid, accept } of readings.filter(({ swhid }) => swhid.includes(':dir:'))) {
    const answer = await client.get(`/1/resolve/${swhid}`, { accept });
    await answer.arrayBuffer();
    if (answer.status !== 200) return false;
  }
  return true;
}
