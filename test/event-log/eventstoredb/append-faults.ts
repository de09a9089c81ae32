import { mock } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import test from 'ava';
import { EventLogUnavailable, WrongExpectedRevision } from '../../../src/event-log/event-log.ts';
import { AppendRefused } from '../../../src/event-log/eventstoredb/errors.ts';
import { logOnDouble } from '../log-on-double.ts';
import { idsOf, listOf, newEvent, newEvents, upTo } from '../log-under-test.ts';

export function appendFaults(): void {
  unknownOutcomes();
  certainOutcomes();
  severalClients();
}

function unknownOutcomes(): void {
  test.serial('an append without a response is retried until it is answered, and stored once', async (t) => {
    const { double, log } = await logOnDouble(t);
    double.faults.set('append', { kind: 'commit and hang' });
    const events = newEvents(2);
    const answer = await log.append('deposit-1', 'none', events);
    const stored = await listOf(log.readAll());
    t.deepEqual(idsOf(stored), idsOf(events));
    t.deepEqual(answer, { revision: 1, position: stored[1]?.position ?? '' });
    t.is(double.faults.seen('append'), 2);
  });

  for (const code of [
    'ABORTED',
    'DEADLINE_EXCEEDED',
    'UNAVAILABLE',
    'CANCELLED',
    'UNKNOWN',
    'INTERNAL',
  ] as const) {
    test.serial(`an append that was stored and answered ${code} is stored once`, async (t) => {
      const { double, log } = await logOnDouble(t);
      await log.append('deposit-1', 'none', newEvents(1));
      double.faults.set('append', { kind: 'commit and refuse', code: status[code] });
      const { revision } = await log.append('deposit-1', 0, newEvents(3));
      t.is(revision, 3);
      t.is(double.log.stream('deposit-1').length, 4);
    });

    test.serial(`an append that was answered ${code} and not stored is stored by a retry`, async (t) => {
      const { double, log } = await logOnDouble(t);
      double.faults.set('append', { kind: 'refuse', code: status[code] }, 2);
      const { revision } = await log.append('deposit-1', 'none', newEvents(2));
      t.is(revision, 1);
      t.is(double.log.stream('deposit-1').length, 2);
    });
  }

  test.serial('an append whose response is lost in a server restart is stored once', async (t) => {
    const { double, log } = await logOnDouble(t);
    double.faults.set('append', { kind: 'commit and hang' });
    const appending = log.append('deposit-1', 'none', newEvents(1));
    while (double.log.all.length === 0) await setTimeout(5);
    await double.restart();
    t.is((await appending).revision, 0);
    t.is(double.log.all.length, 1);
  });

  test.serial('an append overtaken by another between two attempts is refused', async (t) => {
    const { double, log, another } = await logOnDouble(t, { firstPause: 300 });
    const [winner] = newEvents(1);
    double.faults.set('append', { kind: 'refuse', code: status.UNAVAILABLE });
    const appending = t.throwsAsync<WrongExpectedRevision>(log.append('deposit-1', 'none', newEvents(1)));
    while (double.faults.seen('append') === 0) await setTimeout(5);
    await (await another()).append('deposit-1', 'none', winner ? [winner] : []);
    const refused = await appending;
    t.true(refused instanceof WrongExpectedRevision);
    t.is(refused.actual, 0);
    t.deepEqual(idsOf(await listOf(log.readStream('deposit-1'))), [winner?.id ?? '']);
  });

  test.serial(
    "an append without any response fails at the timeout, with the log's own message",
    async (t) => {
      const { double, log } = await logOnDouble(t, { callTimeout: 100, retryTimeout: 400 });
      double.faults.set('append', { kind: 'hang' }, Number.POSITIVE_INFINITY);
      const error = await t.throwsAsync<EventLogUnavailable>(log.append('deposit-1', 'none', newEvents(1)));
      t.true(error instanceof EventLogUnavailable);
      t.is(error.code, 'EVENT_LOG_UNAVAILABLE');
      t.is(error.message, 'The append to deposit-1 failed: the server did not answer in time.');
      t.true(double.faults.seen('append') >= 2);
    },
  );

  test.serial(
    'reading what an earlier attempt has stored ends with the time limit of the request',
    async (t) => {
      const { double, log } = await logOnDouble(t, { retryTimeout: 2000 });
      await log.append('deposit-1', 'none', newEvents(1));
      double.faults.set('append', { kind: 'refuse', code: status.UNAVAILABLE });
      double.faults.set('read', { kind: 'refuse', code: status.UNAVAILABLE }, Number.POSITIVE_INFINITY);
      const begun = performance.now();
      await t.throwsAsync(log.append('deposit-1', 'none', newEvents(1), { since: begun - 1800 }), {
        message: /^Reading deposit-1 failed/,
      });
      const waited = performance.now() - begun;
      t.true(waited < 1000, `${waited} ms`);
    },
  );

  test.serial('the timeout is not extended when the clock is set back', async (t) => {
    const { double, log } = await logOnDouble(t, { retryTimeout: 300 });
    double.faults.set('append', { kind: 'refuse', code: status.UNAVAILABLE }, Number.POSITIVE_INFINITY);
    const appending = t.throwsAsync(log.append('deposit-1', 'none', newEvents(1)), {
      message: /^The append/,
    });
    const now = Date.now();
    const clock = mock.method(Date, 'now', () => now - 3_600_000);
    t.teardown(() => clock.mock.restore());
    await appending;
  });

  test.serial('pauses between the attempts grow', async (t) => {
    const { double, log } = await logOnDouble(t, { firstPause: 20, longestPause: 10_000, retryTimeout: 600 });
    double.faults.set('append', { kind: 'refuse', code: status.UNAVAILABLE }, Number.POSITIVE_INFINITY);
    const error = await t.throwsAsync(log.append('deposit-1', 'none', newEvents(1)));
    t.is(error?.message, 'The append to deposit-1 failed: the server cannot be reached.');
    t.true(double.faults.seen('append') <= 8, `${double.faults.seen('append')} tries`);
  });
}

function certainOutcomes(): void {
  test.serial('an append does not overtake an earlier one to the same stream', async (t) => {
    const { double, log } = await logOnDouble(t);
    double.faults.set('append', { kind: 'delay', milliseconds: 50 });
    const answers = await Promise.all([
      log.append('deposit-1', 'none', newEvents(1)),
      log.append('deposit-1', 0, newEvents(1)),
    ]);
    t.deepEqual(
      answers.map(({ revision }) => revision),
      [0, 1],
    );
  });

  test.serial('a permanently refused append is not retried', async (t) => {
    const { double, log } = await logOnDouble(t, { callTimeout: 20_000, retryTimeout: 20_000 });
    const large = newEvent({ text: 'x'.repeat(1024 * 1024) });
    const tooLarge = await t.throwsAsync(log.append('deposit-1', 'none', [large]), {
      instanceOf: AppendRefused,
    });
    t.is(
      tooLarge.message,
      'The append to deposit-1 was refused: it is larger than the server accepts in one append.',
    );
    double.faults.set('append', {
      kind: 'refuse',
      code: status.PERMISSION_DENIED,
      exception: 'access-denied',
    });
    const denied = await t.throwsAsync(log.append('deposit-1', 'none', newEvents(1)), {
      instanceOf: EventLogUnavailable,
    });
    t.true(denied.message.endsWith('the server does not allow it with these credentials.'));
    t.is(double.faults.seen('append'), 2);
  });

  test.serial('no option of the connection string turns a refused append into a success', async (t) => {
    const { double, another } = await logOnDouble(t);
    const connectionString = `${double.connectionString}&throwOnAppendFailure=false`;
    const log = await another({ connectionString });
    await log.append('deposit-1', 'none', newEvents(1));
    const instanceOf = WrongExpectedRevision;
    await t.throwsAsync(log.append('deposit-1', 'none', newEvents(1)), { instanceOf });
    await t.throwsAsync(log.append('deposit-2', 0, newEvents(1)), { instanceOf });
    t.is(double.log.all.length, 1);
  });

  test.serial('an append sent to a follower is redirected to the leader', async (t) => {
    const { double, log } = await logOnDouble(t);
    double.faults.set('append', { kind: 'not leader' });
    const { revision } = await log.append('deposit-1', 'none', newEvents(1));
    t.is(revision, 0);
    double.faults.set('read', { kind: 'not leader' });
    t.is((await listOf(log.readStream('deposit-1'))).length, 1);
  });
}

function severalClients(): void {
  test.serial('a failing client does not affect the appends of other clients', async (t) => {
    const { double, log, another } = await logOnDouble(t);
    const other = await another({ callTimeout: 5000 });
    double.faults.set('append', { kind: 'delay', milliseconds: 400 });
    const slow = other.append('deposit-1', 'none', newEvents(1));
    while (double.faults.seen('append') === 0) await setTimeout(5);
    double.faults.set('append', { kind: 'commit and hang' });
    await log.append('deposit-2', 'none', newEvents(1));
    await log[Symbol.asyncDispose]();
    t.is((await slow).revision, 0);
    t.is(double.faults.seen('append'), 3);
  });

  // A call that the client begins on a channel it has just closed throws where nothing can catch it.
  test.serial('a hundred concurrent appends survive a server that fails repeatedly', async (t) => {
    const { double, log } = await logOnDouble(t, { retryTimeout: 10_000 });
    for (let times = 0; times < 40; times += 1) {
      double.faults.set('append', { kind: 'refuse', code: status.UNAVAILABLE }, 3);
      double.faults.set('append', { kind: 'delay', milliseconds: 1 }, 2);
      double.faults.set('append', { kind: 'commit and refuse', code: status.UNAVAILABLE });
    }
    const answers = await Promise.all(
      upTo(100).map(async (number) => {
        await log.append(`deposit-${number}`, 'none', newEvents(1));
        return log.append(`deposit-${number}`, 0, newEvents(2));
      }),
    );
    t.true(answers.every(({ revision }) => revision === 2));
    t.is(double.log.all.length, 300);
  });
}
