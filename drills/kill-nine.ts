import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { pack } from 'tar-stream';
import { Administration } from '../src/administration.ts';
import { readConfig } from '../src/config.ts';
import { openLog } from '../src/service.ts';
import { ServiceProcess } from './service-process.ts';

const HELP = `Kills the service with SIGKILL at random moments under four writers, and looks afterwards whether every
deposit that was answered 201 exists, once, and comes to its end.

  node drills/kill-nine.ts [--kills 50]
`;

type Acknowledged = { readonly id: string; readonly final: boolean };

async function drill(kills: number): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deposit-kill-'));
  const port = await freePort();
  await registerClient(folder);
  const acknowledged: Acknowledged[] = [];
  let unanswered = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    const service = await ServiceProcess.start(folder, port);
    const running = { now: true };
    const writers = Array.from({ length: 4 }, (_, writer) =>
      write(service.url, writer, running, acknowledged),
    );
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 700));
    await service.end('SIGKILL');
    running.now = false;
    unanswered += (await Promise.all(writers)).reduce((sum, lost) => sum + lost, 0);
    process.stdout.write(`kill ${kill} of ${kills}: ${acknowledged.length} acknowledged so far\n`);
  }
  const service = await ServiceProcess.start(folder, port);
  const found = await inspect(service.url, acknowledged);
  const doubled = acknowledged.length - new Set(acknowledged.map(({ id }) => id)).size;
  const code = await service.end('SIGTERM');
  process.stdout.write(
    `${kills} kills, ${acknowledged.length} acknowledged, ${unanswered} unanswered: ${found.lost} lost, ${doubled} doubled, ` +
      `${found.stuck} stuck, ${found.rejected} rejected, ${found.done} done, ${found.partial} partial; exit ${code}\n`,
  );
  await rm(folder, { recursive: true, force: true });
  const held = found.lost + found.stuck + doubled + (code ?? 1) === 0 && acknowledged.length > kills;
  return held ? 0 : 1;
}

/** Deposits again and again, each in one of several ways; tells how many got no answer. */
async function write(
  url: string,
  writer: number,
  running: { now: boolean },
  done: Acknowledged[],
): Promise<number> {
  for (let turn = 0; running.now; turn += 1) {
    const kind = (turn + writer) % 4;
    try {
      const id = await depositOnce(url, kind, `${writer}-${turn}-${Math.random()}`, (id) =>
        done.push({ id, final: false }),
      );
      done.push({ id, final: true });
    } catch {
      return 1; // the connection broke: no answer, no promise
    }
  }
  return 0;
}

async function depositOnce(
  url: string,
  kind: number,
  seed: string,
  partial: (id: string) => void,
): Promise<string> {
  if (kind === 0 || kind === 2)
    return idOf(await post(`${url}/1/drill/`, await form(kind, seed), { 'In-Progress': 'false' }));
  const binary = { 'Content-Type': 'application/x-tar', 'Content-Disposition': 'attachment; filename=a.tar' };
  if (kind === 1) return idOf(await post(`${url}/1/drill/`, await archive(seed), binary));
  const created = await post(`${url}/1/drill/`, await archive(seed), { ...binary, 'In-Progress': 'true' });
  const id = await idOf(created);
  const location = created.headers.get('location') ?? '';
  const replaced = await post(location, entry, {
    'Content-Type': 'application/atom+xml',
    'In-Progress': 'false',
  }).catch((error: unknown) => {
    partial(id); // created and acknowledged, its completion unknown
    throw error;
  });
  await idOf(replaced);
  return id;
}

const entry =
  '<entry xmlns="http://www.w3.org/2005/Atom"><title>Drill</title><author><name>Drill</name></author></entry>';

/** A tar of its own for every deposit: small ones go to rows of the store, larger ones to files. */
async function archive(seed: string, bytes = 20): Promise<Uint8Array<ArrayBuffer>> {
  const tar = pack();
  tar.entry({ name: 'drill/a.txt' }, Buffer.concat([Buffer.from(seed), randomBytes(bytes)]));
  tar.finalize();
  return new Uint8Array(await buffer(tar));
}

async function form(kind: number, seed: string): Promise<FormData> {
  const body = new FormData();
  const bytes = await archive(seed, kind === 2 ? 300_000 : 20);
  body.append('file', new Blob([bytes], { type: 'application/x-tar' }), 'a.tar');
  body.append('atom', new Blob([entry], { type: 'application/atom+xml' }), 'entry.xml');
  return body;
}

function post(
  url: string,
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string>,
): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { ...authorization, ...headers } });
}

const authorization = { Authorization: `Basic ${Buffer.from('drill:drill').toString('base64')}` };

async function idOf(answer: Response): Promise<string> {
  const body = await answer.text();
  if (answer.status !== 201) throw new Error(`${answer.status}: ${body}`);
  return /<deposit_id>(\d+)</.exec(body)?.[1] ?? '';
}

type Found = { lost: number; stuck: number; rejected: number; done: number; partial: number };

async function inspect(url: string, acknowledged: readonly Acknowledged[]): Promise<Found> {
  const found = { lost: 0, stuck: 0, rejected: 0, done: 0, partial: 0 };
  for (const { id, final } of acknowledged) {
    const status = await finalStatus(`${url}/1/drill/${id}/status/`);
    if (status === 'partial' && final) found.stuck += 1;
    else if (status === undefined) found.lost += 1;
    else if (status === 'done' || status === 'rejected' || status === 'partial') found[status] += 1;
    else found.stuck += 1;
  }
  return found;
}

/** Waits a minute at the most for a status that stays. */
async function finalStatus(statusIri: string): Promise<string | undefined> {
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(statusIri, { headers: authorization });
    const status = /<deposit_status>(\w+)</.exec(await answer.text())?.[1];
    if (status === undefined || tries === 600 || ['done', 'rejected', 'failed', 'partial'].includes(status))
      return status;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function registerClient(folder: string): Promise<void> {
  await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: folder }));
  const administration = new Administration(log, { kind: 'operator', name: 'drill' });
  await administration.registerClient('drill', 'drill');
  await administration.grant('drill', 'drill');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '50' }, help: { type: 'boolean' } },
});
if (values.help) process.stdout.write(HELP);
else process.exitCode = await drill(Number(values.kills));
