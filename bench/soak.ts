import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readOptions } from '../src/operations/command/arguments.ts';
import { runCommand, UsageError } from '../src/operations/command/command.ts';
import { say } from '../src/operations/command/output.ts';
import { ControlClient } from '../src/service/operator-port/control-client.ts';
import { describeMachine, load as loadOfMachine, machineText } from './frame/machine.ts';
import { ProgressLine } from './frame/progress-line.ts';
import { median } from './frame/statistics.ts';
import { rounded } from './frame/table.ts';
import { LoadProcess } from './load/load-process.ts';
import { completeCreate, listGet } from './load/request-kinds.ts';
import { prepareFolder, startBenched } from './servers/benched-service.ts';

const HELP = `Lets the service work at half of what it can do, and looks whether anything grows that must not.

  node bench/soak.ts --minutes N [--json FILE]

Complete deposits come from 8 clients, and lists are asked for; first for a while as fast as possible, to find the
most, then at half that rate. Every few seconds memory, open files and the events that wait for checker and loader are
looked at. What counts is the last third against the middle third: memory may grow by a tenth, and nothing may wait.
Exit codes: 0 all is flat and no request failed, 1 otherwise, 2 wrong usage.
`;

const CLIENTS = 8;
/** Seconds until most leaks show, and between two samples. */
const [FIRST_SECONDS, LOOK_SECONDS] = [20, 5];
const [MEMORY_GROWTH, MORE_FILES, LAG] = [1.1, 8, 50];

type Look = {
  readonly second: number;
  readonly memory: number;
  readonly files: number;
  readonly waiting: number;
};

await runCommand(HELP, async (args) => {
  const values = readOptions(args, { minutes: { type: 'string' }, json: { type: 'string' } });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new UsageError('--minutes is missing, or no number.');
  using temporary = mkdtempDisposableSync(path.join(tmpdir(), 'deposit-soak-'));
  const folder = temporary.path;
  say(machineText(describeMachine(folder)));
  const found = await soak(folder, minutes * 60);
  const faults = faultsIn(found.looks);
  say(
    `most: ${rounded(found.most)} deposits/s; then ${rounded(found.rate)} deposits/s for ${minutes} minutes`,
  );
  say(`creates: median ${rounded(found.creates.median)} ms, p99 ${rounded(found.creates.p99)} ms`);
  for (const part of ['memory', 'files', 'waiting'] as const) {
    const [middle, last] = thirds(found.looks).map((looks) => median(looks.map((look) => look[part])));
    say(`${part}: ${rounded(middle as number)} in the middle, ${rounded(last as number)} at the end`);
  }
  say(`load ${rounded(loadOfMachine())}`);
  for (const fault of faults) say(`NOT FLAT: ${fault}`);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ ...found, faults }, null, 2)}\n`);
  return faults.length === 0 ? 0 : 1;
});

async function soak(folder: string, seconds: number) {
  const progress = new ProgressLine();
  const dataDir = path.join(folder, 'data');
  await prepareFolder(dataDir);
  await using service = await startBenched(dataDir);
  await using creating = new LoadProcess();
  await using listing = new LoadProcess();
  const creates = { url: service.url, clients: CLIENTS, request: completeCreate() };
  progress.tell('finding the most');
  const started = performance.now();
  const first = await creating.run({ ...creates, seconds: FIRST_SECONDS });
  await settled(dataDir);
  const most = (first.requests / (performance.now() - started)) * 1000;
  const rate = most / 2;
  const looks: Look[] = [];
  const work = Promise.all([
    creating.run({ ...creates, seconds, rate }),
    listing.run({ url: service.url, clients: 1, request: listGet(''), seconds, rate: 5 }),
  ]);
  const begun = performance.now();
  while (performance.now() - begun < seconds * 1000) {
    await Promise.race([pause(LOOK_SECONDS * 1000), work]);
    const { memory, openFiles: files } = service.facts;
    looks.push({
      second: (performance.now() - begun) / 1000,
      memory,
      files,
      waiting: await waitingIn(dataDir),
    });
    progress.tell(`${Math.round(looks.at(-1)?.second ?? 0)} of ${seconds} s: ${rounded(memory)} MiB`);
  }
  const [done, lists] = await work;
  await settled(dataDir);
  progress.clear();
  return { most, rate, creates: done, lists, looks };
}

function faultsIn(looks: readonly Look[]): string[] {
  const [middle, last] = thirds(looks);
  const change = (part: 'memory' | 'files' | 'waiting') =>
    [middle, last].map((third) => median((third ?? []).map((look) => look[part]))) as [number, number];
  const [memory, files, waiting] = [change('memory'), change('files'), change('waiting')];
  return [
    memory[1] > memory[0] * MEMORY_GROWTH &&
      `memory grew from ${rounded(memory[0])} to ${rounded(memory[1])} MiB.`,
    files[1] > files[0] + MORE_FILES && `open files grew from ${files[0]} to ${files[1]}.`,
    waiting[1] > LAG && `${waiting[1]} events wait for checker and loader at the end.`,
  ].filter((fault) => fault !== false);
}

/** Returns the middle and the last third of the samples: the first is warm-up. */
function thirds(looks: readonly Look[]): [Look[], Look[]] {
  const third = Math.ceil(looks.length / 3);
  return [looks.slice(third, 2 * third), looks.slice(2 * third)];
}

/** Resolves when checker and loader have no work left. */
async function settled(dataDir: string): Promise<void> {
  while ((await waitingIn(dataDir)) > 0) await pause(100);
}

async function waitingIn(dataDir: string): Promise<number> {
  const state = await (await ControlClient.find(dataDir))?.state();
  return Math.max(
    ...(state?.reactors ?? []).map(({ delivery, underWay }) => (delivery?.waiting ?? 1) + underWay),
  );
}
