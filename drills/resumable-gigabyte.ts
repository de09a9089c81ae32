import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { pack } from 'tar-stream';
import * as tus from 'tus-js-client';
import { entryHeaders, helloEntry } from '../test/support/deposit-bodies.ts';
import { FaultProxy } from '../test/support/fault-proxy.ts';
import { TestClient } from '../test/support/running-service.ts';
import { registerDrill } from './drilled-service.ts';
import { freePort } from './free-port.ts';
import { ServiceProcess } from './service-process.ts';

const HELP = `Brings a large archive into the service by tus, over connections that break, with a SIGKILL of the service on the
way, deposits it, and compares what the service gives back.

  node drills/resumable-gigabyte.ts [--mib 1024] [--breaks 10] [--most-mib 400]

Exit codes: 0 all bytes are back and no service process took more memory than --most-mib, 1 not so.
`;

const MIB = 1024 ** 2;
const MEMBER = 16 * MIB;

async function drill(bytes: number, breaks: number, most: number): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deposit-gigabyte-'));
  await using _folder = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
  const file = path.join(folder, 'large.tar');
  const { sha256, md5 } = await writeTar(file, bytes);
  const dataDir = path.join(folder, 'data');
  await registerDrill(dataDir);
  const port = await freePort();
  await using proxy = await FaultProxy.start(port);
  const url = `http://127.0.0.1:${proxy.port}`;
  const settings = { DEPOSIT_BASE_URL: url, DEPOSIT_MAX_UNPACKED_SIZE: String(8 * bytes) };
  const run = new Run(await ServiceProcess.start(dataDir, port, settings));
  await using _running = { [Symbol.asyncDispose]: () => run.service[Symbol.asyncDispose]() };
  say(`${Math.round(bytes / MIB)} MiB of archive; the service idles at ${await run.memory()} MiB.`);

  const client = new TestClient(url, 'drill', 'drill');
  const { size } = await stat(file);
  const uploading = timed('uploaded');
  const upload = await send(
    file,
    client,
    async (sent) => {
      if (run.kills > 0 || sent < size / 2) return;
      run.kills += 1;
      await run.memory();
      await run.service.end('SIGKILL');
      say(`killed after ${Math.round(sent / MIB)} MiB had been sent`);
      run.service = await ServiceProcess.start(dataDir, port, settings);
    },
    breaking(proxy, breaks, size),
  );
  uploading(size);
  const afterUpload = await run.memory();

  const naming = timed('stored');
  const headers = { Upload: upload, 'Content-MD5': md5, 'In-Progress': 'true' };
  const created = await client.post('/1/drill/', null, headers);
  if (created.status !== 201) throw new Error(`${created.status}: ${await created.text()}`);
  naming(size);
  const afterStoring = await run.memory();
  const edit = created.headers.get('location') ?? '';
  const loading = timed('checked and loaded');
  await client.post(edit, helloEntry, { ...entryHeaders(), 'In-Progress': 'false' });
  await client.waitFor(edit.replace('metadata', 'status'), 'done', 'rejected', 'failed');
  const status = await (await client.get(edit.replace('metadata', 'status'))).text();
  loading(size);
  const back = await digestOf(await client.get(edit.replace('metadata', 'media')));
  const peaks = `${afterUpload} MiB after the upload, ${afterStoring} after storing, ${await run.memory()} at the end`;
  say(`peak memory of the service: ${peaks}; ${run.breaks(proxy)} PATCH requests, ${run.kills} kill`);
  const isDone = status.includes('<deposit_status>done</deposit_status>');
  say(`${isDone ? 'done' : status}; the bytes that came back are ${back === sha256 ? 'the same' : 'OTHERS'}`);
  const code = await run.service.end('SIGTERM');
  return isDone && back === sha256 && run.peak <= most && run.kills === 1 && code === 0 ? 0 : 1;
}

/** The service process of the moment, and the most memory that one of them took. */
class Run {
  service: ServiceProcess;
  peak = 0;
  kills = 0;

  constructor(service: ServiceProcess) {
    this.service = service;
  }

  /** The most resident memory so far of the process that runs now, in MiB. */
  async memory(): Promise<number> {
    const status = await readFile(`/proc/${this.service.pid}/status`, 'utf8');
    const mib = Math.round(Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1]) / 1024);
    this.peak = Math.max(this.peak, mib);
    return mib;
  }

  breaks({ requests }: FaultProxy): number {
    return requests.filter((request) => request.startsWith('PATCH')).length;
  }
}

/** Members of random bytes, so that nothing can be guessed or packed. */
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

/** Each PATCH breaks after its share of the bytes, so often. */
function breaking(proxy: FaultProxy, breaks: number, size: number): () => void {
  let broken = 0;
  return () => {
    if (broken === breaks) return;
    broken += 1;
    const afterBytes = Math.floor((size / (breaks + 2)) * (0.5 + Math.random() / 2));
    proxy.inject({ kind: 'reset', afterBytes }, /^PATCH/, 1);
  };
}

/** By the client of the protocol, which goes on by itself; the IRI of the upload. */
async function send(
  file: string,
  { url, authorization }: TestClient,
  onSent: (bytes: number) => Promise<void>,
  onPatch: () => void,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Its type knows files of browsers only.
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

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const { values } = parseArgs({
  options: {
    mib: { type: 'string', default: '1024' },
    breaks: { type: 'string', default: '10' },
    'most-mib': { type: 'string', default: '400' },
    help: { type: 'boolean' },
  },
});
if (values.help) process.stdout.write(HELP);
else
  process.exitCode = await drill(Number(values.mib) * MIB, Number(values.breaks), Number(values['most-mib']));
