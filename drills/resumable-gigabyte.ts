import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';
import * as tus from 'tus-js-client';
import { entryHeaders, helloEntry } from '../testing/http/deposit-bodies.ts';
import { FaultProxy } from '../testing/http/fault-proxy.ts';
import type { TestClient } from '../testing/http/test-client.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { type Finding, runDrill, printProgress as say } from './frame/drill.ts';
import { drillClient, drilledFolder, scratchFolder } from './service/drilled-service.ts';
import { peakMemory } from './service/process-facts.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Brings a large archive into the service by tus, over connections that break, with a SIGKILL of the service on the
way, deposits it, and compares what the service gives back.

  node drills/resumable-gigabyte.ts [--mib 1024] [--breaks 10] [--most-mib 400]

All bytes have to come back, and no process of the service may take more memory than --most-mib.
`;

const MIB = 1024 ** 2;
const MEMBER = 16 * MIB;

await runDrill(
  HELP,
  { mib: { full: 1024, short: 64 }, breaks: { full: 10, short: 2, least: 0 }, 'most-mib': 400 },
  ({ mib, breaks, 'most-mib': most }) => drill(mib * MIB, breaks, most),
);

async function drill(bytes: number, breaks: number, most: number): Promise<Finding> {
  await using scratch = await scratchFolder('large');
  await using folder = await drilledFolder('gigabyte');
  const { dataDir } = folder;
  const file = path.join(scratch.path, 'large.tar');
  const { sha256, md5 } = await writeTar(file, bytes);
  const port = await freePort();
  await using proxy = await FaultProxy.start(port);
  const url = `http://127.0.0.1:${proxy.port}`;
  const settings = { DEPOSIT_BASE_URL: url, DEPOSIT_MAX_UNPACKED_SIZE: String(8 * bytes) };
  const run = { service: await ServiceProcess.start(dataDir, port, settings), peak: 0, kills: 0 };
  const memory = async (): Promise<number> => {
    const mib = await peakMemory(run.service.pid);
    run.peak = Math.max(run.peak, mib);
    return mib;
  };
  await using _running = { [Symbol.asyncDispose]: () => run.service[Symbol.asyncDispose]() };
  say(`${Math.round(bytes / MIB)} MiB of archive; the service idles at ${await memory()} MiB.`);

  const client = drillClient(url);
  const { size } = await stat(file);
  const uploading = timed('uploaded');
  const upload = await send(
    file,
    client,
    async (sent) => {
      if (run.kills > 0 || sent < size / 2) return;
      run.kills += 1;
      await memory();
      await run.service.end('SIGKILL');
      say(`killed after ${Math.round(sent / MIB)} MiB had been sent`);
      run.service = await ServiceProcess.start(dataDir, port, settings);
    },
    breaking(proxy, breaks, size),
  );
  uploading(size);
  const afterUpload = await memory();

  const naming = timed('stored');
  const headers = { Upload: upload, 'Content-MD5': md5, 'In-Progress': 'true' };
  const created = await client.post('/1/drill/', null, headers);
  if (created.status !== 201) throw new Error(`${created.status}: ${await created.text()}`);
  naming(size);
  const afterStoring = await memory();
  const edit = created.headers.get('location') ?? '';
  const loading = timed('checked and loaded');
  await client.post(edit, helloEntry, { ...entryHeaders(), 'In-Progress': 'false' });
  await client.waitFor(edit.replace('metadata', 'status'), 'done', 'rejected', 'failed');
  const status = await (await client.get(edit.replace('metadata', 'status'))).text();
  loading(size);
  const back = await digestOf(await client.get(edit.replace('metadata', 'media')));
  const peaks = `${afterUpload} MiB after the upload, ${afterStoring} after storing, ${await memory()} at the end`;
  const patches = proxy.requests.filter((request) => request.startsWith('PATCH')).length;
  say(`peak memory of the service: ${peaks}; ${patches} PATCH requests, ${run.kills} kill`);
  const isDone = status.includes('<deposit_status>done</deposit_status>');
  const code = await run.service.end('SIGTERM');
  const mib = Math.round(bytes / MIB);
  return {
    tried: `An archive of ${mib} MiB was brought in by tus over ${breaks} connections that broke, with ${run.kills} SIGKILL on the way, and deposited.`,
    held: `It was loaded, the same bytes came back, and the service took ${run.peak} MiB of memory at the most.`,
    broken: [
      ...(isDone ? [] : [`It was not loaded: ${status}`]),
      ...(back === sha256 ? [] : ['Other bytes came back.']),
      ...(run.peak <= most ? [] : [`The service took ${run.peak} MiB of memory, more than ${most}.`]),
      ...(run.kills === 1 ? [] : [`It was killed ${run.kills} times instead of once.`]),
      ...(code === 0 ? [] : [`The service ended with ${code} after SIGTERM.`]),
    ],
    numbers: {
      kills: run.kills,
      MiB: mib,
      breaks,
      'PATCH requests': patches,
      'peak MiB': run.peak,
    },
  };
}

/** Writes members of random bytes, which cannot be guessed or compressed. */
async function writeTar(file: string, bytes: number): Promise<{ sha256: string; md5: string }> {
  const tar = pack();
  const [sha256, md5] = [createHash('sha256'), createHash('md5')];
  const filling = (async () => {
    for (let at = 0, member = 0; at < bytes; at += MEMBER, member += 1) {
      const data = randomBytes(Math.min(MEMBER, bytes - at));
      await new Promise<void>((resolve, reject) => {
        tar.entry({ name: `large/${member}` }, data, (error) => (error ? reject(error) : resolve()));
      });
    }
    tar.finalize();
  })();
  async function* hashed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      sha256.update(chunk);
      md5.update(chunk);
      yield chunk;
    }
  }
  await Promise.all([filling, pipeline(tar, hashed, createWriteStream(file))]);
  return { sha256: sha256.digest('hex'), md5: md5.digest('hex') };
}

/** Breaks each PATCH after its share of the bytes, this number of times. */
function breaking(proxy: FaultProxy, breaks: number, size: number): () => void {
  let broken = 0;
  return () => {
    if (broken === breaks) return;
    broken += 1;
    const afterBytes = Math.floor((size / (breaks + 2)) * (0.5 + Math.random() / 2));
    proxy.inject({ kind: 'reset', afterBytes }, /^PATCH/, 1);
  };
}

/** Uploads with a client of the protocol, which resumes by itself; resolves to the IRI of the upload. */
async function send(
  file: string,
  { url, authorization }: TestClient,
  onSent: (bytes: number) => Promise<void>,
  onPatch: () => void,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Its type allows only files of browsers.
  const source = createReadStream(file) as unknown as Buffer;
  const upload = new tus.Upload(source, {
    endpoint: `${url}/1/drill/uploads/`,
    headers: { Authorization: authorization },
    metadata: { filename: 'large.tar', filetype: 'application/x-tar' },
    retryDelays: [0, 100, 300, 1000, 2000, 3000, 3000, 3000],
    onBeforeRequest: (request) => {
      if (request.getMethod() === 'PATCH') onPatch();
    },
    onProgress: (sent) => void onSent(sent).catch(reject),
    onSuccess: () => resolve(),
    onError: reject,
  });
  upload.start();
  await promise;
  return upload.url ?? '';
}

async function digestOf(answer: Response): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of answer.body ?? []) hash.update(chunk);
  return hash.digest('hex');
}

function timed(what: string): (bytes: number) => void {
  const started = performance.now();
  return (bytes) => {
    const seconds = (performance.now() - started) / 1000;
    say(`${what}: ${bytes} bytes in ${seconds.toFixed(1)} s, ${Math.round(bytes / MIB / seconds)} MiB/s`);
  };
}
