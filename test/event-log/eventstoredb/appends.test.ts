import sharedMessages from '@eventstore/db-client/generated/shared_pb.js';
import streamMessages from '@eventstore/db-client/generated/streams_pb.js';
import { status } from '@grpc/grpc-js';
import test from 'ava';
import { EventLogUnavailable, WrongExpectedRevision } from '../../../src/event-log/event-log.ts';
import {
  AppendRefused,
  invalidatesClient,
  isTransient,
  toLogError,
} from '../../../src/event-log/eventstoredb/errors.ts';
import { InvalidPosition } from '../../../src/event-log/position.ts';
import { logBehindProxy } from '../log-behind-proxy.ts';
import { logOnDouble } from '../log-on-double.ts';
import { idsOf, listOf, newEvents } from '../log-under-test.ts';

const { AppendResp } = streamMessages;

test('an append above the maximum message size is refused at its first attempt', async (t) => {
  const { double, log } = await logOnDouble(t, { callTimeout: 5000 });
  double.faults.set('append', { kind: 'refuse', code: status.RESOURCE_EXHAUSTED }, 100);
  const error = await t.throwsAsync(log.append('deposit-1', 'none', newEvents(1)), {
    instanceOf: AppendRefused,
  });
  t.is(error.message, 'The append to deposit-1 was refused: it is larger than one message may be.');
  t.is(double.faults.seen('append'), 1);
});

test('a server that asks to slow down is a transient error', (t) => {
  const error = (details: string) =>
    Object.assign(new Error(`8 RESOURCE_EXHAUSTED: ${details}`), { code: 8 });
  t.true(isTransient(error('Bandwidth exhausted or memory limit exceeded')));
  t.false(isTransient(error('Received message exceeds the maximum configured message size.')));
});

test('an invalid position is an error of the caller; a TypeError of the client is transient', (t) => {
  const [position, answer] = [
    new InvalidPosition('1'),
    new TypeError('Cannot convert undefined to a BigInt'),
  ];
  t.deepEqual([isTransient(position), invalidatesClient(position)], [false, false]);
  t.is(toLogError('Reading all events', position), position);
  t.deepEqual([isTransient(answer), invalidatesClient(answer)], [true, true]);
  t.true(toLogError('Reading all events', answer) instanceof EventLogUnavailable);
});

test('an append stored by an earlier attempt succeeds, whatever revision the server reports', async (t) => {
  let answers = 0;
  const appended = () => {
    answers += 1;
    return answers === 1 ? undefined : wrongRevision(7);
  };
  const { log, proxied } = await logBehindProxy(t, { appended }, { callTimeout: 500 });
  await log.append('deposit-1', 'none', newEvents(2));
  const events = newEvents(3);
  const answer = await proxied.append('deposit-1', 1, events);
  const stored = await listOf(log.readStream('deposit-1', { from: 2 }));
  t.deepEqual(idsOf(stored), idsOf(events));
  t.deepEqual(answer, { revision: 4, position: stored[2]?.position ?? '' });
  t.true(answers > 1);
});

test('an append of which only a part is in the stream is refused', async (t) => {
  const [first, second] = newEvents(2);
  if (!first || !second) throw new Error('two events are made');
  let answers = 0;
  const appended = () => {
    answers += 1;
    return answers === 1 ? undefined : wrongRevision(0);
  };
  const { log, proxied } = await logBehindProxy(t, { appended }, { callTimeout: 500 });
  await log.append('deposit-1', 'none', [first]);
  const refused = await t.throwsAsync(proxied.append('deposit-1', 'none', [first, second]), {
    instanceOf: WrongExpectedRevision,
  });
  t.is(refused.actual, 0);
});

test('an append that loses a race at its first attempt reads nothing', async (t) => {
  let reads = 0;
  const { log, proxied } = await logBehindProxy(t, {
    beforeRead: () => {
      reads += 1;
      return undefined;
    },
  });
  await log.append('deposit-1', 'none', newEvents(1));
  const refused = await t.throwsAsync(proxied.append('deposit-1', 'none', newEvents(1)), {
    instanceOf: WrongExpectedRevision,
  });
  t.is(refused.actual, 0);
  t.is(reads, 0);
});

test('a refused revision has the actual one if the server reports it', async (t) => {
  const answers = [wrongRevision(4), wrongRevision('none'), wrongRevision(undefined), wrongRevision('none')];
  const { proxied } = await logBehindProxy(t, { appended: () => answers.shift() });
  const actual = async (expected: number | 'none') => {
    const refused = await t.throwsAsync(proxied.append('deposit-1', expected, newEvents(1)), {
      instanceOf: WrongExpectedRevision,
    });
    return refused.actual;
  };
  t.is(await actual('none'), 4);
  t.is(await actual(3), 'none');
  t.is(await actual('none'), 'unknown', 'not named');
  t.is(await actual('none'), 'unknown', 'with the name of the expected event');
});

function wrongRevision(actual: number | 'none' | undefined) {
  const wrong = new AppendResp.WrongExpectedVersion().setExpectedNoStream(new sharedMessages.Empty());
  if (actual === 'none') wrong.setCurrentNoStream(new sharedMessages.Empty());
  else if (actual !== undefined) wrong.setCurrentRevision(String(actual));
  return new AppendResp().setWrongExpectedVersion(wrong);
}
