import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readOptions } from '../src/operations/command/arguments.ts';
import { runCommand, UsageError } from '../src/operations/command/command.ts';
import { say } from '../src/operations/command/output.ts';
import type { ConsoleSession } from '../testing/browser/sign-in.ts';
import { describeMachine, load as loadOfMachine, machineText } from './frame/machine.ts';
import { ProgressLine } from './frame/progress-line.ts';
import { median } from './frame/statistics.ts';
import { rounded } from './frame/table.ts';
import { LoadProcess } from './load/load-process.ts';
import { completeCreate } from './load/request-kinds.ts';
import { prepareFolder, startBenched } from './servers/benched-service.ts';
import { operatorSession } from './servers/console-session.ts';

const HELP = `Leaves consoles open while deposits are made, and looks whether the memory of the service grows.

  node bench/consoles.ts --minutes N [--consoles N] [--json FILE]

Each console holds its event stream open and reads all that arrives, as a browser does; every few seconds it reads the
overview, the list and a search. A deposit is made every two seconds, and is checked and loaded. Beside it runs a second
service with the same deposits and without consoles. What counts is the proportional set size (PSS) from the first to the
last third: the service with consoles may grow by a tenth of its memory more than the one without.

--consoles: how many are open (10)
Exit codes: 0 the memory is within the limit and no request failed, 1 otherwise, 2 wrong usage.
`;

/** Deposits a second, milliseconds between two readings of a console, and between two samples of the memory. */
const [RATE, READ_MS, SAMPLE_MS] = [0.5, 8000, 10_000];
const MAX_GROWTH = 0.1;
/** The pages that an open console reads again and again. */
const PAGES = ['overview', 'deposits', 'deposits?status=done&q=hello', 'search?q=bench', 'work'];

await runCommand(HELP, async (args) => {
  const values = readOptions(args, {
    minutes: { type: 'string' },
    consoles: { type: 'string', default: '10' },
    json: { type: 'string' },
  });
  const [minutes, consoles] = [Number(values.minutes), Number(values.consoles)];
  if (!(minutes > 0)) throw new UsageError('--minutes is missing, or no number.');
  if (!(Number.isSafeInteger(consoles) && consoles > 0)) throw new UsageError('--consoles is no number.');
  using temporary = mkdtempDisposableSync(path.join(tmpdir(), 'deposit-consoles-'));
  const folder = temporary.path;
  say(machineText(describeMachine(folder)));
  const [found, without] = await Promise.all([
    leaveOpen(path.join(folder, 'with'), consoles, minutes * 60),
    leaveOpen(path.join(folder, 'without'), 0, minutes * 60),
  ]);
  const [more, isSilent] = [growth(found) - growth(without), found.changes === 0];
  const hasGrown = more > median(thirds(without.memory)[0] ?? []) * MAX_GROWTH;
  say(describe(consoles, found));
  say(describe(0, without));
  say(`${found.changes} changes arrived, ${found.readings} pages were read`);
  say(`load ${rounded(loadOfMachine())}`);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ found, without }, null, 2)}\n`);
  if (hasGrown) say(`GROWN: by ${rounded(more)} MiB more than without consoles.`);
  if (isSilent) say('NOTHING ARRIVED: the event streams were silent.');
  return hasGrown || isSilent ? 1 : 0;
});

type Found = {
  readonly before: number;
  readonly memory: readonly number[];
  readonly deposits: number;
  readonly changes: number;
  readonly readings: number;
};

function describe(consoles: number, { before, memory, deposits }: Found): string {
  const [first, last] = [median(thirds(memory)[0] ?? []), median(thirds(memory)[2] ?? [])];
  return `${consoles} consoles, ${deposits} deposits: ${[before, first, last].map(rounded).join(', ')} MiB before, in the first and in the last third`;
}

/** Returns by how much the memory of the last third is above that of the first. */
function growth({ memory }: Found): number {
  const [first = [], , last = []] = thirds(memory);
  return median(last) - median(first);
}

async function leaveOpen(dataDir: string, consoles: number, seconds: number): Promise<Found> {
  const progress = new ProgressLine();
  await prepareFolder(dataDir);
  await using service = await startBenched(dataDir);
  await using creating = new LoadProcess();
  const request = completeCreate();
  await creating.run({ url: service.url, clients: 1, request, seconds: 5, rate: 2 }); // all code is loaded
  const before = service.facts.proportionalMemory;
  const closing = new AbortController();
  const counts = { changes: 0, readings: 0 };
  const sessions: ConsoleSession[] = [];
  while (sessions.length < consoles) sessions.push(await operatorSession(dataDir, service.url));
  const open = Promise.all(
    sessions.flatMap((session) => [
      follow(service.url, session, closing.signal, () => (counts.changes += 1)),
      readPages(session, closing.signal, () => (counts.readings += 1)),
    ]),
  );
  const made = creating.run({ url: service.url, clients: 1, request, seconds, rate: RATE });
  const memory: number[] = [];
  const begun = performance.now();
  while (performance.now() - begun < seconds * 1000) {
    await Promise.race([pause(SAMPLE_MS), open.then(() => pause(SAMPLE_MS))]);
    memory.push(service.facts.proportionalMemory);
    const elapsed = Math.round((performance.now() - begun) / 1000);
    if (consoles > 0) progress.tell(`${elapsed} of ${seconds} s: ${rounded(memory.at(-1) as number)} MiB`);
  }
  const { requests: deposits } = await made;
  closing.abort();
  await open;
  progress.clear();
  return { before, memory, deposits, ...counts };
}

/** Reads an event stream to its end, which must not come before the signal. */
async function follow(
  url: string,
  { cookie }: ConsoleSession,
  signal: AbortSignal,
  changed: () => void,
): Promise<void> {
  try {
    const answer = await fetch(`${url}/console/api/live`, { headers: { Cookie: cookie }, signal });
    if (answer.status !== 200 || !answer.body)
      throw new Error(`The event stream was answered ${answer.status}.`);
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream()))
      for (const _ of chunk.matchAll(/^event: change$/gm)) changed();
    throw new Error('An event stream has ended.');
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Reads pages in turn. A session lasts 30 minutes without use, so that it is renewed as in a browser. */
async function readPages(session: ConsoleSession, signal: AbortSignal, read: () => void): Promise<void> {
  for (let turn = 0, current = session; !signal.aborted; turn += 1) {
    const answer = await current.get(`/console/api/${PAGES[turn % PAGES.length]}`);
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`A page was answered ${answer.status}.`);
    current = current.renewedBy(answer);
    read();
    await pause(READ_MS, undefined, { signal }).catch(() => undefined);
  }
}

function thirds(values: readonly number[]): readonly (readonly number[])[] {
  const third = Math.ceil(values.length / 3);
  return [values.slice(0, third), values.slice(third, 2 * third), values.slice(2 * third)];
}
