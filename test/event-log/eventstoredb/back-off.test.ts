import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { EventStoreDbConnection } from '../../../src/event-log/eventstoredb/connection.ts';
import { EventStoreDbEventLog } from '../../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import { Backoff, type BackoffOptions } from '../../../src/tools/concurrency/backoff.ts';
import { startClusterNode } from '../cluster-node.ts';
import { eventually, logOnDouble } from '../log-on-double.ts';
import { newEvents } from '../log-under-test.ts';

/** Short pauses at first and, after 400 ms of failure, one of a minute. */
const LONG_PAUSES = { firstPause: 60_000, longestPause: 20, outageAfter: 400, outagePause: 60_000 };

function connectionWith(pauses: Partial<BackoffOptions>): EventStoreDbConnection {
  return new EventStoreDbConnection({ connectionString: 'esdb://localhost:2113?tls=false', ...pauses });
}

test('pauses of background work grow during a long failure', async (t) => {
  const settings = { firstPause: 1, longestPause: 4, outageAfter: 50, outagePause: 1000 };
  const background = connectionWith(settings).backgroundBackoff();
  const request = new Backoff({ firstPause: 1, longestPause: 4 });
  const pauses = (backOff: Backoff) => Array.from({ length: 12 }, () => backOff.next());
  t.true([...pauses(background), ...pauses(request)].every((pause) => pause <= 5));
  await setTimeout(60);
  t.true(background.next() >= 750);
  t.true(request.next() <= 5);
  background.reset();
  t.true(background.next() <= 2, 'the pauses are short again after a success');
  t.true(
    pauses(background).every((pause) => pause <= 5),
    'and the time is measured from the next failure',
  );
});

test('pauses are at most ten seconds after two minutes', (t) => {
  const backOff = connectionWith({ outageAfter: 0 }).backgroundBackoff();
  const pauses = Array.from({ length: 100 }, () => backOff.next());
  t.true(pauses.every((pause) => pause <= 10_000));
  t.true(pauses.slice(10).every((pause) => pause >= 6000));
});

test('a subscription rarely searches for a leader that is missing for long, a request searches at once', async (t) => {
  let gossips = 0;
  const leads = () => {
    gossips += 1;
    return false;
  };
  const connectionString = await startClusterNode(t, { leads, appends: () => false });
  const log = await EventStoreDbEventLog.open({ connectionString, retryTimeout: 0, ...LONG_PAUSES });
  t.teardown(() => log[Symbol.asyncDispose]());
  void log.subscribe()[Symbol.asyncIterator]().next();
  let before = 0;
  await eventually(async () => {
    before = gossips;
    await setTimeout(1500);
    return gossips === before && before > 0;
  });
  void log.append('deposit-1', 'none', newEvents(1)).catch(() => undefined);
  const begun = performance.now();
  await eventually(() => gossips > before);
  t.true(performance.now() - begun < 10_000, 'long before the pause of the subscription ends');
});

test('a call that succeeds after a long outage wakes the subscription', async (t) => {
  const { double, log } = await logOnDouble(t, LONG_PAUSES);
  const reasons: (string | undefined)[] = [];
  const stop = new AbortController();
  const messages = log.subscribe({ signal: stop.signal, onLastError: (reason) => reasons.push(reason) });
  const kinds: string[] = [];
  const reading = (async () => {
    for await (const { kind } of messages) kinds.push(kind);
  })();
  await eventually(() => kinds.length === 1);
  double.stop();
  await eventually(() => reasons.filter((reason) => reason !== undefined).length >= 2);
  await setTimeout(1000);
  await double.listen();
  await log.append('deposit-1', 'none', newEvents(1));
  await eventually(() => kinds.includes('events'));
  stop.abort();
  await reading;
  t.pass();
});
