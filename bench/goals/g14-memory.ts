import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { atMost, type Bench, type Goal } from '../frame/goal.ts';
import { LoadProcess } from '../load/load-process.ts';
import { archiveCreate, zipLike } from '../load/request-kinds.ts';
import { AUTHORIZATION, CLIENT, prepareFolder, startBenched } from '../servers/benched-service.ts';
import type { ServerProcess } from '../servers/server-process.ts';

const GIB = 1024 ** 3;
/** Limit of the rounds: memory varies little, so more rounds would only take time. */
const MOST_ROUNDS = 3;

/** Measures the peak of resident memory of a service that was started for this alone. */
export const memory: Goal = {
  id: 'G14',
  what: 'peak memory',
  async measure(bench) {
    const { zip } = await bench.inputs.archives();
    const archive = await readFile(zip.file);
    return [
      {
        what: 'checking and loading the zip of G9',
        unit: 'MiB',
        ours: {
          name: 'service',
          values: await peaks(bench, 'zip', (each) => checkedAndLoaded(each, archive)),
        },
        wanted: atMost(200),
      },
      {
        what: 'an upload of 1 GiB',
        unit: 'MiB',
        ours: { name: 'service', values: await peaks(bench, '1 GiB', uploadGibibyte) },
        wanted: atMost(300),
      },
    ];
  },
};

async function peaks(
  { folder, pairs, tell }: Bench,
  what: string,
  work: (service: ServerProcess) => Promise<void>,
): Promise<number[]> {
  const found: number[] = [];
  for (let round = 1; round <= Math.min(pairs, MOST_ROUNDS); round += 1) {
    tell(`G14, ${what}: round ${round}`);
    const dataDir = path.join(folder, `${what}-${round}`.replaceAll(' ', '-'));
    await prepareFolder(dataDir);
    const env = { DEPOSIT_MAX_UPLOAD_SIZE: String(2 * GIB) };
    await using service = await startBenched(dataDir, { env });
    await work(service);
    found.push(service.facts.peakMemory);
  }
  return found;
}

const ENTRY = `<?xml version="1.0" encoding="utf-8"?>
<entry xmlns="http://www.w3.org/2005/Atom"><title>Bench</title><author><name>Bench</name></author></entry>`;

async function checkedAndLoaded({ url }: ServerProcess, archive: Buffer): Promise<void> {
  const form = new FormData();
  form.set('file', new Blob([archive as Uint8Array<ArrayBuffer>], { type: 'application/zip' }), 'tree.zip');
  form.set('atom', new Blob([ENTRY], { type: 'application/atom+xml' }), 'entry.xml');
  const headers = { Authorization: AUTHORIZATION, 'In-Progress': 'false' };
  const answer = await fetch(`${url}/1/${CLIENT.collection}/`, { method: 'POST', headers, body: form });
  if (answer.status !== 201)
    throw new Error(`The zip was answered with ${answer.status}: ${await answer.text()}`);
  for (;;) {
    const status = await fetch(`${url}/1/${CLIENT.collection}/1/status/`, { headers });
    const body = await status.text();
    if (body.includes('<deposit_status>done<')) return;
    if (/<deposit_status>(rejected|failed)</.test(body)) throw new Error(body);
    await pause(50);
  }
}

async function uploadGibibyte({ url }: ServerProcess): Promise<void> {
  await using load = new LoadProcess();
  const piece = zipLike(1024 ** 2);
  const request = { ...archiveCreate(piece), varyAt: [], times: GIB / piece.length };
  await load.run({ url, clients: 1, request, seconds: 600, requests: 1 });
}
