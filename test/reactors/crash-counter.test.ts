import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { CatchUpDeliveries } from '../../src/event-log/consumer-groups/catch-up-deliveries.ts';
import type { Delivery } from '../../src/event-log/consumer-groups/deliveries.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { SqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts';
import { parkedEvents } from '../../src/reactors/parking.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';

const SCRIPT = path.join(import.meta.dirname, 'processes', 'crashes-on-an-event.ts');

test('an event that crashes the process repeatedly is parked, and concurrent ones are not', async (t) => {
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'log.sqlite');
  {
    await using log = await SqliteEventLog.open({ file });
    await happen(log, 'job-a', 'job-killer', 'job-b', 'job-c');
  }
  const lives: string[] = [];
  let end: string | number | null = 'SIGKILL';
  while (end === 'SIGKILL' && lives.length < 20) {
    const output = await life(folder);
    lives.push(output.lines);
    end = output.end;
  }
  t.is(end, 0);
  const together = 'job-a begun, job-killer begun, job-b begun, job-c begun';
  t.deepEqual(lives, [
    together,
    together,
    'job-a begun, job-a done, job-killer begun',
    ...Array.from({ length: 9 }, () => 'job-killer begun'),
    'job-b begun, job-b done, job-c begun, job-c done',
  ]);
  await using log = await SqliteEventLog.open({ file });
  const parked = await parkedEvents(log, 'tested');
  t.deepEqual(
    parked.map(({ stream, reason }) => [stream, reason]),
    [
      [
        'job-killer',
        'Parked after 10 attempts that never completed; the service may have crashed each time.',
      ],
    ],
  );
  t.deepEqual(await readdir(path.join(folder, 'checkpoints')), ['tested-retries.json', 'tested.json']);
});

test('an uncaught exception counts as a crash, though the process then stops in order', async (t) => {
  const folder = await temporaryFolder(t);
  {
    await using log = await SqliteEventLog.open({ file: path.join(folder, 'log.sqlite') });
    await happen(log, 'job-a', 'job-thrower', 'job-b', 'job-c');
  }
  t.is((await life(folder, 'job-d')).end, 1);
  const left = await readFile(path.join(folder, 'checkpoints', 'tested.deaths.json'), 'utf8');
  t.like(JSON.parse(left), { running: true }, 'as after a death');
});

test('work interrupted by a stop is never counted as a crash', async (t) => {
  await using log = new MemoryEventLog();
  const folder = await temporaryFolder(t);
  await happen(log, 'job-a', 'job-b');
  for (let deaths = 0; deaths < 3; deaths += 1) {
    const { deliveries } = await received(log, folder, 1); // never ended, as after a crash
    await deliveries[0]?.begin('alone');
  }
  for (let stops = 0; stops < 3; stops += 1) {
    const { deliveries, stop } = await received(log, folder, 1);
    t.is(deliveries[0]?.event.stream, 'job-a');
    t.is(await deliveries[0]?.begin('alone'), 2);
    await stop();
  }
  const { deliveries, stop } = await received(log, folder, 2);
  t.is(await deliveries[0]?.begin('beside others'), undefined);
  await deliveries[0]?.acknowledge();
  t.is(await deliveries[1]?.begin('beside others'), undefined);
  t.is(await deliveries[1]?.begin('alone'), 1);
  await deliveries[1]?.acknowledge();
  await happen(log, 'job-c', 'job-d');
  await until(async () => deliveries.length === 4);
  t.is(await deliveries[2]?.begin('beside others'), 1, 'together again');
  await stop();
  const after = await received(log, folder, 2);
  t.deepEqual(await Promise.all(after.deliveries.map((delivery) => delivery.begin('beside others'))), [1, 1]);
  await after.stop();
});

test('a crash count corrupted by a power cut is ignored', async (t) => {
  await using log = new MemoryEventLog();
  const folder = await temporaryFolder(t);
  await happen(log, 'job-a');
  for (const text of ['', '{"running":tr', 'null', '7']) {
    await writeFile(path.join(folder, 'tested.deaths.json'), text);
    const { deliveries, stop } = await received(log, folder, 1);
    t.is(await deliveries[0]?.begin('beside others'), 1, text);
    await stop();
  }
});

/**
 * Starts a process that handles the events in the folder until these streams are completed; resolves to its output and
 * its end.
 */
async function life(folder: string, streams = 'job-b,job-c') {
  const child = spawn(process.execPath, [SCRIPT, folder, streams], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return { lines: output.trim().replaceAll('\n', ', '), end: (code ?? signal) as string | number };
}

/** Receives events as a separate process would, until this number has come. */
async function received(log: EventLog, folder: string, count: number) {
  const deliveries: Delivery[] = [];
  const stopped = new AbortController();
  const receive = async (): Promise<void> => {
    const all = new CatchUpDeliveries(log, folder).receive('tested', 'job-', stopped.signal);
    for await (const delivery of all) deliveries.push(delivery);
  };
  const ended = receive();
  await until(async () => deliveries.length >= count);
  const stop = async (): Promise<void> => {
    stopped.abort();
    await ended;
  };
  return { deliveries, stop };
}

async function happen(log: EventLog, ...streams: string[]): Promise<void> {
  for (const stream of streams) {
    const event = { id: crypto.randomUUID(), type: 'Work', data: {}, metadata: {} };
    await log.append(stream, 'none', [event]);
  }
}
