import test from 'ava';
import { EventLogUnavailable, type NewEvent, WrongExpectedRevision } from '../../src/event-log/event-log.ts';
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

export function appendingContract(engine: LogEngine): void {
  expectingRevisions(engine);
  appendingAgain(engine);
  appendingAtOnce(engine);
  if (engine.durable) appendingAcrossReopening(engine);
}

function expectingRevisions(engine: LogEngine): void {
  test.serial('an append returns the revision and the position of its last event', async (t) => {
    const { log, stream, own } = await logUnderTest(t, engine);
    const first = await log.append(stream('a'), 'none', [newEvent()]);
    const second = await log.append(stream('a'), 0, newEvents(3));
    const [, ...rest] = await listOf(log.readAll(own));
    t.is(first.revision, 0);
    t.is(second.revision, 3);
    t.is(rest.at(-1)?.position, second.position);
    t.true(first.position < second.position);
  });

  test.serial('a refused append of several events stores none of them', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    const kept = newEvent();
    await log.append(stream('a'), 'none', [kept]);
    await t.throwsAsync(log.append(stream('a'), 'none', newEvents(3)), { instanceOf: WrongExpectedRevision });
    await t.throwsAsync(log.append(stream('a'), 1, newEvents(3)), { instanceOf: WrongExpectedRevision });
    t.deepEqual(idsOf(await listOf(log.readStream(stream('a')))), [kept.id]);
  });

  test.serial('a refused append reports the expected and the actual revision', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    const name = stream('a');
    const absent = await t.throwsAsync<WrongExpectedRevision>(log.append(name, 4, [newEvent()]));
    await log.append(name, 'none', newEvents(2));
    const present = await t.throwsAsync<WrongExpectedRevision>(log.append(name, 'none', [newEvent()]));
    const behind = await t.throwsAsync<WrongExpectedRevision>(log.append(name, 0, [newEvent()]));
    const ahead = await t.throwsAsync<WrongExpectedRevision>(log.append(name, 7, [newEvent()]));
    t.deepEqual([absent.expected, absent.actual], [4, 'none']);
    t.deepEqual([present.expected, present.actual], ['none', 1]);
    t.deepEqual([behind.expected, behind.actual], [0, 1]);
    t.deepEqual([ahead.expected, ahead.actual], [7, 1]);
    t.is(ahead.code, 'WRONG_EXPECTED_REVISION');
    t.is(ahead.stream, name);
    t.is(ahead.message, `Stream ${name} was expected at revision 7 but is at 1.`);
  });

  test.serial(
    'an append without events, with an invalid id or a negative revision is an error of the caller',
    async (t) => {
      const { log, stream } = await logUnderTest(t, engine);
      await t.throwsAsync(log.append(stream('a'), 'none', []), { instanceOf: TypeError });
      await t.throwsAsync(log.append(stream('a'), -1, [newEvent()]), { instanceOf: TypeError });
      await t.throwsAsync(log.append(stream('a'), 'none', [{ ...newEvent(), id: 'seven' }]), {
        instanceOf: TypeError,
      });
      t.deepEqual(await listOf(log.readStream(stream('a'))), []);
    },
  );

  test.serial("changes of the caller's objects after the call are not stored", async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    const list = ['before'];
    const appending = log.append(stream('a'), 'none', [newEvent({ list })]);
    list[0] = 'after';
    await appending;
    const [event] = await listOf(log.readStream(stream('a')));
    t.deepEqual(event?.data, { list: ['before'] });
  });

  test.serial('a closed log is unavailable', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    await log[Symbol.asyncDispose]();
    await log[Symbol.asyncDispose]();
    await t.throwsAsync(log.append(stream('a'), 'none', [newEvent()]), { instanceOf: EventLogUnavailable });
    await t.throwsAsync(log.head(), { instanceOf: EventLogUnavailable });
    await t.throwsAsync(listOf(log.readStream(stream('a'))), { instanceOf: EventLogUnavailable });
  });

  test.serial('appends in progress are finished when the log is closed', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    const appends = upTo(20).map((number) => log.append(stream(`s${number}`), 'none', [newEvent()]));
    await log[Symbol.asyncDispose]();
    const answers = await Promise.all(appends);
    t.true(answers.every(({ revision }) => revision === 0));
  });
}

function appendingAgain(engine: LogEngine): void {
  test.serial('a repeated append gets the first result and adds nothing', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    const [one, several] = [newEvents(1), newEvents(3)];
    const first = await log.append(stream('a'), 'none', one);
    const second = await log.append(stream('a'), 0, several);
    await log.append(stream('a'), 3, newEvents(2));
    t.deepEqual(await log.append(stream('a'), 'none', one), first);
    t.deepEqual(await log.append(stream('a'), 0, several), second);
    t.deepEqual(revisionsOf(await listOf(log.readStream(stream('a')))), upTo(6));
  });

  test.serial('the same append twice concurrently is one append with two equal results', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    const events = newEvents(2);
    const [first, second] = await Promise.all([
      log.append(stream('a'), 'none', events),
      log.append(stream('a'), 'none', events),
    ]);
    t.deepEqual(first, second);
    t.is((await listOf(log.readStream(stream('a')))).length, 2);
  });

  test.serial(
    'an append that repeats ids elsewhere in the stream, or only some of them, is refused',
    async (t) => {
      const { log, stream } = await logUnderTest(t, engine);
      const [a, b, c, d] = newEvents(4) as [NewEvent, NewEvent, NewEvent, NewEvent];
      await log.append(stream('a'), 'none', [a, b]);
      await log.append(stream('a'), 1, [c]);
      const refused = { instanceOf: WrongExpectedRevision };
      await t.throwsAsync(log.append(stream('a'), 0, [a, b]), refused, 'elsewhere in the stream');
      await t.throwsAsync(log.append(stream('a'), 'none', [b, a]), refused, 'in another order');
      await t.throwsAsync(log.append(stream('a'), 'none', [a, d]), refused, 'only the first equal');
      await t.throwsAsync(log.append(stream('a'), 'none', [d, b]), refused, 'only the last equal');
      await t.throwsAsync(log.append(stream('a'), 1, [c, d]), refused, 'longer than the stream');
      t.deepEqual(idsOf(await listOf(log.readStream(stream('a')))), idsOf([a, b, c]));
    },
  );

  test.serial('a repeated append is recognised only in its own stream', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    const events = newEvents(2);
    await log.append(stream('a'), 'none', events);
    await t.throwsAsync(log.append(stream('b'), 0, events), { instanceOf: WrongExpectedRevision });
    t.deepEqual(await listOf(log.readStream(stream('b'))), []);
  });
}

function appendingAtOnce(engine: LogEngine): void {
  test.serial('of a hundred appends at one expected revision exactly one succeeds', async (t) => {
    const { log, stream, another } = await logUnderTest(t, engine);
    const logs = [log, await another()];
    await log.append(stream('a'), 'none', [newEvent()]);
    const outcomes = await Promise.allSettled(
      upTo(100).map((number) => (logs[number % 2] as typeof log).append(stream('a'), 0, newEvents(2))),
    );
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
    t.is(lost.length, 99);
    t.true(lost.every(({ reason }) => reason instanceof WrongExpectedRevision && reason.actual === 2));
    t.deepEqual(revisionsOf(await listOf(log.readStream(stream('a')))), [0, 1, 2]);
  });

  test.serial(
    'two instances may alternate in one stream, and each sees the events of the other',
    async (t) => {
      const { log, stream, another } = await logUnderTest(t, engine);
      const other = await another();
      await log.append(stream('a'), 'none', [newEvent()]);
      await other.append(stream('a'), 0, [newEvent()]);
      const behind = await t.throwsAsync<WrongExpectedRevision>(log.append(stream('a'), 0, [newEvent()]));
      t.deepEqual([behind.name, behind.actual], ['WrongExpectedRevision', 1]);
      for (let revision = 1; revision < 9; revision += 2) {
        await log.append(stream('a'), revision, [newEvent()]);
        await other.append(stream('a'), revision + 1, [newEvent()]);
      }
      t.deepEqual(revisionsOf(await listOf(log.readStream(stream('a')))), upTo(10));
    },
  );

  test.serial('concurrent streams grow without gaps, each in its own order', async (t) => {
    const { log, stream, own } = await logUnderTest(t, engine);
    const written = upTo(40).map((number) => ({ name: stream(`s${number}`), events: newEvents(5) }));
    await Promise.all(written.map(({ name, events }) => appendEach(log, name, events)));
    const all = await listOf(log.readAll(own));
    for (const { name, events } of written) {
      const found = all.filter(({ stream: of }) => of === name);
      t.deepEqual(idsOf(found), idsOf(events));
      t.deepEqual(revisionsOf(found), upTo(5));
    }
  });

  test.serial('appends that are not awaited keep the order of their calls', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    const events = newEvents(50);
    await Promise.all(
      events.map((event, index) => log.append(stream('a'), index === 0 ? 'none' : index - 1, [event])),
    );
    t.deepEqual(idsOf(await listOf(log.readStream(stream('a')))), idsOf(events));
  });
}

function appendingAcrossReopening(engine: LogEngine): void {
  test.serial('events, revisions and positions are the same after the log is reopened', async (t) => {
    const { log, stream, own, reopened } = await logUnderTest(t, engine);
    await appendEach(log, stream('a'), newEvents(3));
    const before = await listOf(log.readAll(own));
    const again = await reopened();
    t.deepEqual(await listOf(again.readAll(own)), before);
    await again.append(stream('a'), 2, [newEvent()]);
    t.deepEqual(revisionsOf(await listOf(again.readStream(stream('a')))), upTo(4));
  });

  test.serial('a repeated append gets the first result after the log is reopened', async (t) => {
    const { log, stream, reopened } = await logUnderTest(t, engine);
    const events = newEvents(2);
    const first = await log.append(stream('a'), 'none', events);
    const again = await reopened();
    t.deepEqual(await again.append(stream('a'), 'none', events), first);
    await t.throwsAsync(again.append(stream('a'), 'none', newEvents(2)), {
      instanceOf: WrongExpectedRevision,
    });
  });
}
