import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../src/config/read-config.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { archivePart, entryPart, final, formOf, formType, helloTar } from '../testing/http/deposit-bodies.ts';
import { TestClient } from '../testing/http/test-client.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { largeTar } from './clients/answered-deposits.ts';
import { EngineProcesses } from './engines/engine-processes.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';
import {
  DRILL_PASSWORD,
  drillClient,
  registerDrill,
  registerIn,
  scratchFolder,
} from './service/drilled-service.ts';
import { ServiceProcess } from './service/service-process.ts';

const HELP = `One client brings many large archives; while they wait to be checked and loaded, another deposits small ones. Each of
those must be done while the line of the first client is hardly any shorter: after a few of its archives.

  node drills/long-queue.ts [--large 100] [--small 5] [--shared]

--shared puts log and archives in the double of EventStoreDB and the S3 server of the tests instead of the embedded ones.
`;

/**
 * Large deposits that may be done before a small one: those in work, and the next ones, in its check and in its load.
 */
const BEFORE_IT = 6;
/** Time limit for all large ones, in milliseconds. */
const TIME_LIMIT_MS = 280_000;

const FILES = 40_000;

const OPTIONS = {
  large: { full: 100, short: 12 },
  small: { full: 5, short: 2 },
  shared: { type: 'boolean', default: false },
} as const;

await runDrill(HELP, OPTIONS, async ({ large, small, shared }) => {
  if (!shared) return drill(large, small, {});
  await using engines = await EngineProcesses.start();
  return await drill(large, small, engines.settings);
});

async function drill(
  large: number,
  small: number,
  engines: Readonly<Record<string, string>>,
): Promise<Finding> {
  await using folder = await scratchFolder('queue');
  const dataDir = folder.path;
  await registerDrill(dataDir, engines);
  await registerOther(dataDir, engines);
  await using service = await ServiceProcess.start(dataDir, await freePort(), engines);
  const [busy, calm] = [drillClient(service.url), new TestClient(service.url, 'calm', DRILL_PASSWORD)];
  const archive = largeTar(FILES);
  const begun = performance.now();
  const queued: string[] = [];
  for (let number = 1; number <= large; number += 1) queued.push(await deposit(busy, archive));
  printProgress(`${large} large archives came in ${Math.round(performance.now() - begun)} ms`);
  const [times, before]: [number[], number[]] = [[], []];
  const waiting = [await unfinished(busy, queued)];
  for (let number = 1; number <= small; number += 1) {
    const sent = performance.now();
    await done(calm, await deposit(calm, helloTar));
    times.push(performance.now() - sent);
    waiting.push(await unfinished(busy, queued));
    before.push((waiting.at(-2) ?? 0) - (waiting.at(-1) ?? 0));
    printProgress(
      `small deposit ${number}: ${Math.round(times.at(-1) ?? 0)} ms, while ${waiting.at(-1)} waited and ${before.at(-1)} were done`,
    );
  }
  const left = await allDone(busy, queued);
  const [longest, most] = [Math.round(Math.max(...times)), Math.max(...before)];
  const broken = [
    ...(most > BEFORE_IT
      ? [`${most} large deposits were done before a small one, more than ${BEFORE_IT}.`]
      : []),
    ...(left > 0 ? [`${left} large deposits were not done after ${TIME_LIMIT_MS} ms.`] : []),
    ...(waiting[0] === 0 ? ['No large deposit was waiting when the first small one arrived.'] : []),
  ];
  return {
    tried: `${large} archives with ${FILES} files each of one client waited to be checked and loaded, ${waiting[0]} of them still when the first of ${small} small deposits of another came.`,
    held: `Each small one was done after ${most} of the large ones at the most, within ${longest} ms, and all large ones in the end.`,
    broken,
    numbers: {
      large,
      small,
      'waiting at first': waiting[0] ?? 0,
      'done before a small one': most,
      'small, longest, ms': longest,
    },
  };
}

async function registerOther(dataDir: string, engines: Readonly<Record<string, string>>): Promise<void> {
  await using log = await openLog(readConfig({ ...engines, DEPOSIT_DATA_DIR: dataDir }));
  await registerIn(log, 'calm', DRILL_PASSWORD);
}

/** Deposits the archive; resolves to the id. */
async function deposit(client: TestClient, tar: Buffer): Promise<string> {
  const body = new Uint8Array(formOf([archivePart(tar, 'a.tar', 'application/x-tar'), entryPart()]));
  const answer = await client.post('/1/drill/', body, { ...formType, ...final });
  const id = /<deposit_id>(\d+)</.exec(await answer.text())?.[1];
  if (id === undefined) throw new Error(`A deposit was answered ${answer.status}.`);
  return id;
}

async function done(client: TestClient, id: string): Promise<void> {
  while (!(await isFinal(client, id))) await pause(20);
}

async function isFinal(client: TestClient, id: string): Promise<boolean> {
  const text = await (await client.get(`/1/drill/${id}/status/`)).text();
  return /<deposit_status>(done|rejected|failed)</.test(text);
}

async function unfinished(client: TestClient, ids: readonly string[]): Promise<number> {
  const final = await Promise.all(ids.map((id) => isFinal(client, id)));
  return final.filter((one) => !one).length;
}

/** Resolves to the number of deposits that are not done after the time limit. */
async function allDone(client: TestClient, ids: readonly string[]): Promise<number> {
  const deadline = performance.now() + TIME_LIMIT_MS;
  for (;;) {
    const left = await unfinished(client, ids);
    if (left === 0 || performance.now() > deadline) return left;
    await pause(500);
  }
}
