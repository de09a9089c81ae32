import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import type {
  EventLog,
  RecordedEvent,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../src/event-log/event-log.ts';
import {
  appendEach,
  idsOf,
  type LogEngine,
  listOf,
  logUnderTest,
  newEvent,
  newEvents,
  revisionsOf,
  upTo,
} from './log-under-test.ts';

export function subscribingContract(engine: LogEngine): void {
  catchingUp(engine);
  followingLive(engine);
  ending(engine);
}

function catchingUp(engine: LogEngine): void {
  test.serial('a subscription delivers existing events, then reports that it has caught up', async (t) => {
    const { log, stream, own } = await logUnderTest(t, engine);
    const events = newEvents(5);
    await appendEach(log, stream('a'), events);
    const messages = await untilCaughtUp(log, own);
    t.deepEqual(idsOf(eventsOf(messages)), idsOf(events));
    t.deepEqual(
      messages.slice(0, -1).map(({ kind }) => kind),
      messages.slice(0, -1).map(() => 'events'),
    );
    t.true(reachedBy(messages) >= (eventsOf(messages).at(-1)?.position ?? '~'));
  });

  test.serial('a subscription after a position starts after it', async (t) => {
    const { log, stream, own } = await logUnderTest(t, engine);
    await appendEach(log, stream('a'), newEvents(5));
    const all = await listOf(log.readAll(own));
    const messages = await untilCaughtUp(log, { ...own, after: all[2]?.position });
    t.deepEqual(eventsOf(messages), all.slice(3));
    const atEnd = await untilCaughtUp(log, { ...own, after: all[4]?.position });
    t.deepEqual(eventsOf(atEnd), []);
  });

  test.serial(
    'a subscription delivers thousands of events in order, in batches of at most a thousand',
    async (t) => {
      const { log, stream, own } = await logUnderTest(t, engine);
      for (const part of upTo(25))
        await log.append(stream('a'), part === 0 ? 'none' : part * 100 - 1, newEvents(100));
      const messages = await untilCaughtUp(log, own);
      t.deepEqual(revisionsOf(eventsOf(messages)), upTo(2_500));
      t.true(messages.every((message) => message.kind !== 'events' || message.events.length <= 1_000));
    },
  );

  test.serial('filtered events advance the position that a subscription has caught up to', async (t) => {
    const { log, stream, own } = await logUnderTest(t, engine);
    const { position } = await log.append(stream('a'), 'none', [newEvent()]);
    const messages = await untilCaughtUp(log, { ...own, streamPrefixes: [stream('other-')] });
    t.deepEqual(eventsOf(messages), []);
    t.true(reachedBy(messages) >= position);
  });

  if (engine.startsEmpty) {
    test.serial('a subscription to an empty log has caught up without a position', async (t) => {
      const { log } = await logUnderTest(t, engine);
      t.deepEqual(await untilCaughtUp(log, {}), [{ kind: 'caught-up', position: undefined }]);
    });
  }
}

function followingLive(engine: LogEngine): void {
  test.serial('a subscription that has caught up delivers later appends, and reports it again', async (t) => {
    const { log, stream, own } = await logUnderTest(t, engine);
    const stop = new AbortController();
    const messages = iterate(log.subscribe({ ...own, signal: stop.signal }));
    t.deepEqual(eventsOf(await collectUntilCaughtUp(messages)), []);
    for (const event of newEvents(3)) {
      await log.append(stream(event.id), 'none', [event]);
      const live = await collectUntilCaughtUp(messages);
      t.deepEqual(idsOf(eventsOf(live)), [event.id]);
    }
    stop.abort();
    t.true((await messages.next()).done);
  });

  test.serial('a subscription sees what another instance appends', async (t) => {
    const { log, stream, own, another } = await logUnderTest(t, engine);
    const other = await another();
    const stop = new AbortController();
    const messages = iterate(log.subscribe({ ...own, signal: stop.signal }));
    await messages.next();
    const event = newEvent();
    await other.append(stream('a'), 'none', [event]);
    t.deepEqual(idsOf(eventsOf(await collectUntilCaughtUp(messages))), [event.id]);
    stop.abort();
  });

  test.serial('while two instances write, many subscribers get every event exactly once', async (t) => {
    const { log, stream, own, another } = await logUnderTest(t, engine);
    const logs = [log, await another()] as const;
    const COUNT = 2 * 8 * 25;
    const early = upTo(4).map((number) => collect(logs[number % 2] as EventLog, own, COUNT));
    const writing = upTo(16).map((number) =>
      appendEach(logs[number % 2] as EventLog, stream(`s${number}`), newEvents(25)),
    );
    await setTimeout(5);
    const late = upTo(4).map((number) => collect(logs[number % 2] as EventLog, own, COUNT));
    const slow = collect(log, own, COUNT, () => setTimeout(2));
    await Promise.all(writing);
    const all = await listOf(log.readAll(own));
    t.is(all.length, COUNT);
    for (const seen of await Promise.all([...early, ...late, slow])) t.deepEqual(idsOf(seen), idsOf(all));
  });

  test.serial('a subscription resumed at each of its positions gets each event once', async (t) => {
    const { log, stream, own } = await logUnderTest(t, engine);
    const writing = appendEach(log, stream('a'), newEvents(40));
    const seen: RecordedEvent[] = [];
    let after = own.after;
    while (seen.length < 40) {
      for await (const message of log.subscribe({ ...own, after })) {
        if (message.kind === 'caught-up') continue;
        seen.push(...message.events);
        after = message.events.at(-1)?.position;
        break;
      }
    }
    await writing;
    t.deepEqual(revisionsOf(seen), upTo(40));
  });
}

function ending(engine: LogEngine): void {
  test.serial(
    'an aborted subscription ends normally while it waits, delivers or has not started',
    async (t) => {
      const { log, stream, own } = await logUnderTest(t, engine);
      await appendEach(log, stream('a'), newEvents(3));
      const waiting = new AbortController();
      const caughtUp = iterate(log.subscribe({ ...own, signal: waiting.signal }));
      await collectUntilCaughtUp(caughtUp);
      const next = caughtUp.next();
      await setTimeout(5);
      waiting.abort();
      t.true((await next).done);

      const delivering = new AbortController();
      for await (const _ of log.subscribe({ ...own, signal: delivering.signal })) delivering.abort();
      t.deepEqual(await listOf(log.subscribe({ signal: AbortSignal.abort() })), []);
    },
  );

  test.serial('closing the log ends its subscriptions', async (t) => {
    const { log, own } = await logUnderTest(t, engine);
    const messages = iterate(log.subscribe(own));
    await messages.next();
    const next = messages.next();
    await log[Symbol.asyncDispose]();
    t.true((await next).done);
  });
}

type Messages = AsyncIterator<SubscriptionMessage, undefined>;

function iterate(messages: AsyncIterable<SubscriptionMessage>): Messages {
  return messages[Symbol.asyncIterator]();
}

async function untilCaughtUp(log: EventLog, options: SubscribeOptions): Promise<SubscriptionMessage[]> {
  const stop = new AbortController();
  const messages = await collectUntilCaughtUp(iterate(log.subscribe({ ...options, signal: stop.signal })));
  stop.abort();
  return messages;
}

async function collectUntilCaughtUp(messages: Messages): Promise<SubscriptionMessage[]> {
  const collected: SubscriptionMessage[] = [];
  while (collected.at(-1)?.kind !== 'caught-up') {
    const { value, done } = await messages.next();
    if (done) break;
    collected.push(value);
  }
  return collected;
}

async function collect(
  log: EventLog,
  options: SubscribeOptions,
  count: number,
  pause?: () => Promise<unknown>,
) {
  const seen: RecordedEvent[] = [];
  for await (const message of log.subscribe(options)) {
    await pause?.();
    if (message.kind === 'events') seen.push(...message.events);
    else if (seen.length >= count) return seen;
  }
  return seen;
}

function eventsOf(messages: readonly SubscriptionMessage[]): RecordedEvent[] {
  return messages.flatMap((message) => (message.kind === 'events' ? message.events : []));
}

function reachedBy(messages: readonly SubscriptionMessage[]): string {
  const last = messages.at(-1);
  return last?.kind === 'caught-up' ? (last.position ?? '') : '';
}
