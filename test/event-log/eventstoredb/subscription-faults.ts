import { setTimeout } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import test from 'ava';
import {
  type EventLog,
  EventLogRestored,
  type RecordedEvent,
  type SubscribeOptions,
} from '../../../src/event-log/event-log.ts';
import { EventStoreDbDouble } from '../../../testing/eventstoredb-double/eventstoredb-double.ts';
import { eventually, logOnDouble } from '../log-on-double.ts';
import { appendEach, idsOf, listOf, newEvents, revisionsOf, upTo } from '../log-under-test.ts';

const DEPOSITS = { streamPrefixes: ['deposit-'] };

export function subscriptionFaults(): void {
  goingOn();
  goingBack();
  beingSilent();
  catchingUp();
}

function goingOn(): void {
  for (const how of ['error', 'silent end'] as const) {
    test.serial(
      `a subscription dropped repeatedly (${how}) misses nothing and repeats nothing`,
      async (t) => {
        const { double, log } = await logOnDouble(t);
        const collecting = collect(log, DEPOSITS, 60);
        const writing = Promise.all(
          upTo(3).map((number) => appendEach(log, `deposit-${number}`, newEvents(20))),
        );
        for (let times = 0; times < 10; times += 1) {
          await setTimeout(10);
          double.dropSubscriptions(how);
        }
        await writing;
        t.deepEqual(idsOf(await collecting), idsOf(await listOf(log.readAll())));
      },
    );
  }

  test.serial('the error of a subscription is over when it has delivered what it missed', async (t) => {
    const { double, log } = await logOnDouble(t, { callTimeout: 20_000 });
    const { position } = await log.append('deposit-1', 'none', newEvents(1200));
    double.faults.set('subscribe', { kind: 'refuse', code: status.UNAVAILABLE });
    let reason: string | undefined;
    const onLastError = (now: string | undefined): void => {
      reason = now;
    };
    for await (const message of log.subscribe({ ...DEPOSITS, onLastError })) {
      if (message.kind === 'caught-up') break;
      if (message.events.at(-1)?.position !== position) t.regex(reason ?? '', /^Following the event log/);
    }
    t.is(reason, undefined);
  });

  test.serial('a subscription survives server restarts and a change of leader', async (t) => {
    const { double, log } = await logOnDouble(t);
    const collecting = collect(log, DEPOSITS, 6);
    await appendEach(log, 'deposit-1', newEvents(2));
    await double.restart();
    await log.append('deposit-1', 1, newEvents(2));
    double.faults.set('subscribe', { kind: 'not leader' });
    double.faults.set('subscribe', { kind: 'refuse', code: status.UNKNOWN });
    double.dropSubscriptions();
    await log.append('deposit-1', 3, newEvents(2));
    t.deepEqual(revisionsOf(await collecting), upTo(6));
  });

  test.serial(
    'an abandoned subscription is closed on the server, also in the middle of an event',
    async (t) => {
      const { double, log } = await logOnDouble(t);
      await appendEach(log, 'deposit-1', newEvents(3));
      for await (const _ of log.subscribe(DEPOSITS)) break;
      const stop = new AbortController();
      for await (const _ of log.subscribe({ ...DEPOSITS, signal: stop.signal })) stop.abort();
      await eventually(() => double.openSubscriptions === 0);
      t.is(double.openSubscriptions, 0);
    },
  );
}

function goingBack(): void {
  for (const [what, inPlace] of [
    ['without events', []],
    ['with fewer events', [['deposit-1', 1]]],
    [
      'with other events up to and beyond its position',
      [
        ['deposit-1', 1],
        ['deposit-2', 4],
      ],
    ],
  ] as const)
    test.serial(`a log that comes back ${what} ends a subscription, before any event of it`, async (t) => {
      const { double, log } = await logOnDouble(t);
      const [first, ...others] = newEvents(3);
      await log.append('deposit-1', 'none', first ? [first] : []);
      await log.append('deposit-1', 0, others);
      const seen: RecordedEvent[] = [];
      let reason: string | undefined;
      const onLastError = (now: string | undefined): void => {
        reason = now;
      };
      const following = followInto(seen, log.subscribe({ ...DEPOSITS, onLastError }));
      await eventually(() => seen.length === 3);
      double.stop();
      await using replaced = await EventStoreDbDouble.start({ port: double.port, compresses: false });
      for (const [stream, count] of inPlace)
        await log.append(stream, 'none', stream === 'deposit-1' && first ? [first] : newEvents(count));
      const error = await t.throwsAsync(following, { instanceOf: EventLogRestored });
      t.regex(error.message, /^The event log does not have event \S+ at revision 2 of deposit-1, /);
      t.is(reason, 'Following the event log failed: it lacks the last event that this node has seen.');
      t.is(seen.length, 3);
      t.is(replaced.openSubscriptions, 0);
    });

  test.serial(
    'a log that comes back without events that were filtered out ends a subscription',
    async (t) => {
      const { double, log } = await logOnDouble(t);
      const [first] = newEvents(1);
      const events = first ? [first] : [];
      await log.append('deposit-1', 'none', events);
      const { position } = await log.append('ids-deposit', 'none', newEvents(20));
      const messages = log.subscribe(DEPOSITS)[Symbol.asyncIterator]();
      for (let caughtUpAt: string | undefined; caughtUpAt !== position; ) {
        const { value } = await messages.next();
        if (value?.kind === 'caught-up') caughtUpAt = value.position;
      }
      double.stop();
      await using _older = await EventStoreDbDouble.start({ port: double.port, compresses: false });
      await log.append('deposit-1', 'none', events);
      const error = await t.throwsAsync(messages.next(), { instanceOf: EventLogRestored });
      t.regex(error.message, /^The event log does not have event \S+ at revision 19 of ids-deposit, /);
    },
  );

  test.serial('a caller that has seen an event gets none of a log without it', async (t) => {
    const { log } = await logOnDouble(t);
    await log.append('deposit-1', 'none', newEvents(2));
    const [event] = await listOf(log.readAll());
    if (!event) return t.fail();
    const lastSeen = { ...event, id: '00000000-0000-4000-8000-000000000000' };
    const messages = log.subscribe({ ...DEPOSITS, after: event.position, lastSeen });
    await t.throwsAsync(Array.fromAsync(messages), { instanceOf: EventLogRestored });
  });

  test.serial('a leader that answers with old data for a moment ends no subscription', async (t) => {
    const { double, log } = await logOnDouble(t);
    await log.append('deposit-1', 'none', newEvents(1));
    const collecting = collect(log, DEPOSITS, 2);
    await eventually(() => double.openSubscriptions === 1);
    double.stop();
    await using old = await EventStoreDbDouble.start({ port: double.port, compresses: false });
    await eventually(() => old.faults.seen('read') >= 3);
    old.stop();
    await double.listen();
    await log.append('deposit-1', 0, newEvents(1));
    t.deepEqual(revisionsOf(await collecting), upTo(2));
  });
}

async function followInto(seen: RecordedEvent[], messages: ReturnType<EventLog['subscribe']>): Promise<void> {
  for await (const message of messages) if (message.kind === 'events') seen.push(...message.events);
}

function beingSilent(): void {
  test.serial('a subscription that the server never starts is restarted', async (t) => {
    const { double, log } = await logOnDouble(t, { quietTime: 50 });
    double.faults.set('subscribe', { kind: 'hang' }, 2);
    await appendEach(log, 'deposit-1', newEvents(3));
    t.deepEqual(revisionsOf(await collect(log, DEPOSITS, 3)), upTo(3));
    t.is(double.faults.seen('subscribe'), 3);
  });

  test.serial('a subscription that falls silent while the log grows is restarted', async (t) => {
    const { double, log } = await logOnDouble(t, { quietTime: 50 });
    const collecting = collect(log, DEPOSITS, 3);
    await log.append('deposit-1', 'none', newEvents(1));
    await eventually(() => double.openSubscriptions === 1);
    double.dropSubscriptions('silence');
    await log.append('deposit-1', 0, newEvents(2));
    t.deepEqual(revisionsOf(await collecting), upTo(3));
  });

  test.serial('an event that arrives while silence is examined restarts no subscription', async (t) => {
    const { double, log } = await logOnDouble(t, { quietTime: 100 });
    const collecting = collect(log, DEPOSITS, 3);
    await log.append('deposit-1', 'none', newEvents(1));
    await eventually(() => double.openSubscriptions === 1);
    await setTimeout(50); // the reads of its start have ended
    double.faults.set('read', { kind: 'delay', milliseconds: 100 }, 100);
    const before = double.faults.seen('read');
    await eventually(() => double.faults.seen('read') > before);
    await log.append('deposit-1', 0, newEvents(1));
    await setTimeout(300);
    await log.append('deposit-1', 1, newEvents(1));
    t.deepEqual(revisionsOf(await collecting), upTo(3));
    t.is(double.faults.seen('subscribe'), 1);
  });

  test.serial('a subscription that is silent without new events is not restarted', async (t) => {
    const { double, log } = await logOnDouble(t, { quietTime: 10 });
    const stop = new AbortController();
    const collecting = collect(log, { ...DEPOSITS, signal: stop.signal }, 1);
    await appendEach(log, 'ids-deposit', newEvents(3));
    await setTimeout(150);
    stop.abort();
    await collecting;
    t.is(double.faults.seen('subscribe'), 1);
  });
}

function catchingUp(): void {
  test.serial('a server that does not report the end of the log is asked for it', async (t) => {
    const { log } = await logOnDouble(t, { quietTime: 30 }, { sendsCaughtUp: false });
    t.is(await caughtUpAt(log), undefined);
    const own = await log.append('deposit-1', 'none', newEvents(2));
    t.is(await caughtUpAt(log), own.position);
    const other = await log.append('ids-deposit', 'none', newEvents(2));
    t.is(await caughtUpAt(log), other.position);
  });

  test.serial('checkpoints of the server advance the position over filtered events', async (t) => {
    const { log } = await logOnDouble(t, { quietTime: 60_000, callTimeout: 20_000 });
    const stop = new AbortController();
    const messages = log.subscribe({ ...DEPOSITS, signal: stop.signal })[Symbol.asyncIterator]();
    t.deepEqual((await messages.next()).value, { kind: 'caught-up', position: undefined });
    const { position } = await log.append('ids-deposit', 'none', newEvents(1000));
    t.deepEqual((await messages.next()).value, { kind: 'caught-up', position });
    stop.abort();
    t.true((await messages.next()).done);
  });

  test.serial('a resumed subscription does not report again that it has caught up', async (t) => {
    const { double, log } = await logOnDouble(t);
    const own = await log.append('deposit-1', 'none', newEvents(1));
    const stop = new AbortController();
    const kinds: string[] = [];
    for await (const message of log.subscribe({ ...DEPOSITS, signal: stop.signal })) {
      kinds.push(message.kind);
      if (kinds.length === 2) {
        void eventually(() => double.openSubscriptions === 1)
          .then(() => double.dropSubscriptions())
          .then(() => eventually(() => double.faults.seen('subscribe') === 2))
          .then(() => log.append('deposit-1', own.revision, newEvents(1)));
      }
      if (kinds.length === 4) stop.abort();
    }
    t.deepEqual(kinds, ['events', 'caught-up', 'events', 'caught-up']);
  });
}

async function collect(log: EventLog, options: SubscribeOptions, count: number): Promise<RecordedEvent[]> {
  const seen: RecordedEvent[] = [];
  for await (const message of log.subscribe(options)) {
    if (message.kind === 'events') seen.push(...message.events);
    if (seen.length >= count) break;
  }
  return seen;
}

async function caughtUpAt(log: EventLog) {
  for await (const message of log.subscribe(DEPOSITS)) {
    if (message.kind === 'caught-up') return message.position;
  }
  return 'never';
}
