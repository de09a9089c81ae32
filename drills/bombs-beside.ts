import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { tarOf } from '../testing/archives/archive-builders.ts';
import { archivePart, entryPart, final, formOf, formType } from '../testing/http/deposit-bodies.ts';
import type { TestClient } from '../testing/http/test-client.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { type Bomb, bombs } from './clients/bombs.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import { drillClient, drilledFolder } from './service/drilled-service.ts';
import { peakMemory } from './service/process-facts.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `Deposits eight archive bombs at once, of eight kinds, and a normal archive at the same time. The normal one must be done in 10
seconds, the bombs must be rejected for what they are, and the memory of the service must stay below 400 MiB.

  node drills/bombs-beside.ts [--rounds 3]
`;

/** Time limit of the normal deposit, in milliseconds, and memory limit of the service, in MiB. */
const [GOAL, MOST_MEMORY] = [10_000, 400];
/** Time for the bombs to be rejected, in milliseconds. */
const TIME_LIMIT_MS = 120_000;

await runDrill(HELP, { rounds: { full: 3, short: 1 } }, async ({ rounds }) => drill(rounds));

async function drill(rounds: number): Promise<Finding> {
  await using folder = await drilledFolder('bombs');
  await using service = await ServiceProcess.start(folder.dataDir, await freePort());
  const client = drillClient(service.url);
  const made = bombs();
  const [broken, normals, slowest]: [string[], number[], number[]] = [[], [], []];
  let rejected = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const begun = performance.now();
    const thrown = made.map(async (bomb) => outcomeOf(client, bomb));
    const { status, ms } = await normalDeposit(client);
    normals.push(ms);
    if (status !== 'done') broken.push(`The normal deposit was ${status} after ${Math.round(ms)} ms.`);
    else if (ms > GOAL) broken.push(`The normal deposit was done after ${Math.round(ms)} ms.`);
    const outcomes = await Promise.all(thrown);
    slowest.push(performance.now() - begun);
    rejected += outcomes.filter((fault) => fault === undefined).length;
    broken.push(...outcomes.filter((fault) => fault !== undefined));
    printProgress(`round ${round} of ${rounds}: the normal deposit took ${Math.round(ms)} ms`);
  }
  const memory = await peakMemory(service.pid);
  if (memory > MOST_MEMORY) broken.push(`The service had ${memory} MiB.`);
  const code = await service.end('SIGTERM');
  if (code !== 0) broken.push(`The service ended with ${code}: ${service.said}`);
  return {
    tried: `${made.length} bombs at once, ${rounds} times (${made.map(({ name }) => name).join(', ')}), with a concurrent normal deposit.`,
    held: `The normal deposit was done in ${Math.round(Math.max(...normals))} ms at the most, every bomb was rejected for what it is, and the service had ${memory} MiB at the most.`,
    broken,
    numbers: {
      bombs: made.length * rounds,
      rejected,
      'normal deposit, longest, ms': Math.round(Math.max(...normals)),
      'all rejected after, longest, ms': Math.round(Math.max(...slowest)),
      'memory, MiB': memory,
    },
  };
}

/** @returns what was wrong with it; `undefined` when it was rejected */
async function outcomeOf(
  client: TestClient,
  { name, type, bytes, reason }: Bomb,
): Promise<string | undefined> {
  const { status, text } = await deposit(client, bytes, type);
  if (status !== 201) return `The bomb “${name}” was answered ${status}: ${text}`;
  const end = await finalStatus(client, text);
  if (end.status === 'rejected' && reason.test(end.detail)) return undefined;
  return `The bomb “${name}” became ${end.status}: ${end.detail}`;
}

async function normalDeposit(client: TestClient): Promise<{ status: string; ms: number }> {
  const begun = performance.now();
  const files = Array.from({ length: 100 }, (_, number) => ({
    name: `normal/${number}.txt`,
    data: randomBytes(5_000).toString('hex'),
  }));
  const { status, text } = await deposit(client, gzipSync(tarOf(files)), 'application/x-tar');
  const end = status === 201 ? await finalStatus(client, text) : { status: `answered ${status}` };
  return { status: end.status, ms: performance.now() - begun };
}

async function deposit(
  client: TestClient,
  bytes: Buffer,
  type: string,
): Promise<{ status: number; text: string }> {
  const body = new Uint8Array(formOf([archivePart(bytes, 'a.bin', type), entryPart()]));
  const answer = await client.post('/1/drill/', body, { ...formType, ...final });
  return { status: answer.status, text: await answer.text() };
}

async function finalStatus(client: TestClient, receipt: string): Promise<{ status: string; detail: string }> {
  const id = /<deposit_id>(\d+)</.exec(receipt)?.[1] ?? '';
  const deadline = performance.now() + TIME_LIMIT_MS;
  for (;;) {
    const text = await (await client.get(`/1/drill/${id}/status/`)).text();
    const status = /<deposit_status>(\w+)</.exec(text)?.[1] ?? 'unknown';
    const detail = /<deposit_status_detail>([^<]*)</.exec(text)?.[1] ?? '';
    if (['done', 'rejected', 'failed'].includes(status) || performance.now() > deadline)
      return { status, detail };
    await pause(50);
  }
}
