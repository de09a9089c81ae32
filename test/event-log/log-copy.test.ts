import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import type { EventLog, RecordedEvent } from '../../src/event-log/event-log.ts';
import { sealAfter } from '../../src/event-log/integrity/hash-chain.ts';
import { LogCopyWrong, verifyCopy } from '../../src/operations/copy/copy-verification.ts';
import { copyEvents, copyLog, LogCopyRefused } from '../../src/operations/copy/log-copy.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { newLogFile, openLog } from './log-file.ts';
import { logOnDouble } from './log-on-double.ts';
import { newEvent } from './log-under-test.ts';

/** Returns a log with events of several streams in turns, sometimes two together, each stream with its hash chain. */
async function filledLog(t: ExecutionContext, events: number): Promise<EventLog> {
  const log = new MemoryEventLog();
  t.teardown(() => log[Symbol.asyncDispose]());
  await fill(log, events);
  return log;
}

async function fill(log: EventLog, events: number, streams = 7): Promise<void> {
  const tails = new Map<string, { revision: number; hash: string }>();
  for (let made = 0; made < events; ) {
    const stream = `deposit-${made % streams}`;
    const tail = tails.get(stream);
    const fresh = Array.from({ length: Math.min(1 + (made % 3), events - made) }, () => newEvent({ made }));
    const expected = tail?.revision ?? 'none';
    const sealed = sealAfter(stream, expected, tail?.hash ?? null, fresh);
    const { revision } = await log.append(stream, expected, sealed);
    tails.set(stream, { revision, hash: sealed.at(-1)?.metadata['hash'] as string });
    made += fresh.length;
  }
}

async function eventsOf(log: EventLog): Promise<Omit<RecordedEvent, 'position'>[]> {
  return Array.fromAsync(log.readAll(), ({ position: _position, ...event }) => event);
}

async function sqliteLog(t: ExecutionContext): Promise<{ file: string; log: EventLog }> {
  const file = await newLogFile(t);
  return { file, log: await openLog(t, { file }) };
}

for (const [engine, count, enough] of [
  ['sqlite', 4000, 1], // more than fit into one transaction
  ['eventstoredb', 300, 100],
] as const) {
  test(`an aborted copy into ${engine} is a prefix, and the next copy continues after it`, async (t) => {
    const source = await filledLog(t, count);
    const { log: target } = engine === 'sqlite' ? await sqliteLog(t) : await logOnDouble(t);
    const wanted = await eventsOf(source);
    const stop = new AbortController();
    const progress = (_step: string, events: number) => events >= enough && stop.abort(new Error('stopped'));
    const broken = copyLog(source, target, { engine, progress, signal: stop.signal });
    await t.throwsAsync(broken, { message: 'stopped' });
    const beginning = await eventsOf(target);
    t.true(beginning.length >= enough && beginning.length < count, `${beginning.length}`);
    t.deepEqual(beginning, wanted.slice(0, beginning.length));

    const { found, copied, upTo } = await copyLog(source, target, { engine });
    t.deepEqual([found, copied, upTo], [beginning.length, count - beginning.length, await source.head()]);
    t.deepEqual(await eventsOf(target), wanted);
    await t.notThrowsAsync(verifyCopy(source.readAll(), target.readAll(), { total: count }));
    t.deepEqual(await copyLog(source, target, { engine }), { found: count, copied: 0, upTo });
  });
}

test('the order is preserved if an append is stored without a response; system events are ignored', async (t) => {
  const { double, log: target } = await logOnDouble(t);
  const source = await filledLog(t, 60);
  double.log.appendSystemEvent();
  for (const fault of ['commit and hang', 'hang'] as const) double.faults.set('append', { kind: fault });
  const progress = (_step: string, events: number) => {
    if (events === 30) double.log.appendSystemEvent('$stats', '$statsCollected');
  };
  t.is((await copyLog(source, target, { engine: 'eventstoredb', progress })).copied, 60);
  t.deepEqual(await eventsOf(target), await eventsOf(source));
});

test('events of one stream share an append up to the size limit of the server', async (t) => {
  const { double, log: target } = await logOnDouble(t, { callTimeout: 5000 });
  const source = new MemoryEventLog();
  const small = Array.from({ length: 250 }, () => newEvent());
  const large = Array.from({ length: 3 }, () => newEvent({ text: 'é'.repeat(200_000) }));
  await source.append('deposit-1', 'none', [...small, ...large]);
  await copyLog(source, target, { engine: 'eventstoredb' });
  t.is(double.faults.seen('append'), 5, 'at most a hundred events and half a megabyte each');
  t.deepEqual(await eventsOf(target), await eventsOf(source));
});

test('a target with other contents is refused and unchanged', async (t) => {
  const source = await filledLog(t, 50);
  const wanted = await eventsOf(source);
  const begun = async (count: number, last?: Partial<RecordedEvent>) => {
    const target = new MemoryEventLog();
    const events = wanted.slice(0, count);
    if (last) events[count - 1] = { ...(events[count - 1] as RecordedEvent), ...last };
    await copyEvents(iterated(events), target);
    return target;
  };
  const cases: readonly (readonly [EventLog, RegExp])[] = [
    [await begun(1, { id: randomUUID() }), /its event 1 has another id .* at revision 0 of deposit-0/],
    [await begun(1, { stream: 'deposit-x' }), /its event 1 has another stream/],
    [await begun(20, { type: 'Other' }), /its event 20 has another type/],
    [await begun(20, { data: { made: -1 } }), /its event 20 has another data/],
    [await begun(20, { metadata: {} }), /its event 20 has another metadata/],
  ];
  for (const [target, message] of cases) {
    const before = await eventsOf(target);
    await t.throwsAsync(copyLog(source, target), { instanceOf: LogCopyRefused, message });
    t.deepEqual(await eventsOf(target), before);
  }
  const longer = await begun(50);
  await longer.append('client-x', 'none', [newEvent()]);
  await t.throwsAsync(copyLog(source, longer), {
    instanceOf: LogCopyRefused,
    message: /has more than the source, which ends before event 51 .*client-x/,
  });
});

test('another writer to the target is detected', async (t) => {
  const source = await filledLog(t, 50);
  const { log: target } = await sqliteLog(t);
  let met = false;
  async function* meddling(): AsyncGenerator<RecordedEvent> {
    for await (const event of source.readAll()) {
      if (!met) await target.append('deposit-3', 'none', [newEvent()]);
      met = true;
      yield event;
    }
  }
  const message = /deposit-3 was expected at .* Another program writes to the target/;
  await t.throwsAsync(copyEvents(meddling(), target, { engine: 'sqlite' }), {
    instanceOf: LogCopyRefused,
    message,
  });
});

test('the verification names the first event that differs between the logs', async (t) => {
  const source = await filledLog(t, 200);
  const { file, log: target } = await sqliteLog(t);
  await copyLog(source, target, { engine: 'sqlite' });
  const verify = (total = 200) => verifyCopy(source.readAll(), target.readAll(), { total });
  await t.notThrowsAsync(verify());
  await t.throwsAsync(verify(201), { instanceOf: LogCopyWrong, message: /ends after event 200 of 201/ });
  await t.notThrowsAsync(verify(199), 'another copy has written the last one');
  const shorter = verifyCopy(iterated((await eventsOf(source)).slice(0, 199)), target.readAll(), {
    total: 199,
  });
  await t.throwsAsync(shorter, { instanceOf: LogCopyWrong, message: /the source ends before event 200/ });

  const database = new DatabaseSync(file);
  t.teardown(() => database.close());
  database.exec(`UPDATE events SET data = replace(data, '76', '77') WHERE position = 77`);
  await t.throwsAsync(verify(), { instanceOf: LogCopyWrong, message: /event 77 has another data/ });
  await t.throwsAsync(copyLog(source, target), { instanceOf: LogCopyRefused, message: /its event 77/ });
});

test('a change made before the copy is detected by its hash, or by the next one', async (t) => {
  const source = await filledLog(t, 100);
  const wanted = await eventsOf(source);
  const withEvent = (number: number, change: (event: RecordedEvent) => Partial<RecordedEvent>) =>
    wanted.map((event, index) =>
      index === number - 1 ? { ...event, ...change(event as RecordedEvent) } : event,
    );
  const verify = (events: typeof wanted) =>
    verifyCopy(iterated(events), iterated(events), { total: events.length });
  await t.notThrowsAsync(verify(wanted));
  await t.throwsAsync(verify(withEvent(40, () => ({ data: { made: 1 } }))), {
    message: /event 40 .* does not carry the hash of its contents, in both logs/,
  });
  const forged = withEvent(40, ({ stream, revision, metadata: { hash: _hash, ...metadata }, ...event }) => {
    const changed = { ...event, data: { made: 1 }, metadata };
    const previous = metadata['prevHash'] as string;
    return { ...changed, ...sealAfter(stream, revision - 1, previous, [changed])[0] };
  });
  const next = wanted.findIndex(({ stream }, index) => index > 39 && stream === wanted[39]?.stream) + 1;
  const bare = withEvent(40, ({ metadata: { hash: _hash, ...metadata } }) => ({ metadata }));
  for (const changed of [forged, bare])
    await t.throwsAsync(verify(changed), {
      message: new RegExp(`event ${next} .* does not name the hash of the event before it`),
    });
});

async function* iterated<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
