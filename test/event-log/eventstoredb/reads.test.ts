import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import test from 'ava';
import { EventLogUnavailable, type RecordedEvent } from '../../../src/event-log/event-log.ts';
import { PageSize } from '../../../src/event-log/eventstoredb/page-size.ts';
import { InvalidPosition } from '../../../src/event-log/position.ts';
import { logBehindProxy } from '../log-behind-proxy.ts';
import { idsOf, listOf, newEvents } from '../log-under-test.ts';

const NEVER = new Promise<never>(() => undefined);
const UNKNOWN_POSITION = String(2n ** 64n - 1n);

test('a read whose pages time out requests smaller ones, also later', async (t) => {
  const asked: number[] = [];
  const beforeRead = (options: ReadReq.Options) => {
    asked.push(Number(options.getCount()));
    return Number(options.getCount()) > 200 ? NEVER : undefined;
  };
  const { log, proxied } = await logBehindProxy(t, { beforeRead }, { callTimeout: 500 });
  const events = newEvents(300);
  await log.append('deposit-1', 'none', events);
  t.deepEqual(idsOf(await listOf(proxied.readStream('deposit-1'))), idsOf(events));
  t.deepEqual(asked.slice(0, 4), [1000, 500, 250, 125]);
  const { length } = asked;
  t.deepEqual(idsOf(await listOf(proxied.readAll())), idsOf(events));
  t.true(length > 4 && asked.length > length);
  t.true(asked.slice(4).every((count) => count <= 126));
});

test('pages grow again when full ones are fast and the last timeout is long ago', (t) => {
  const size = new PageSize(0);
  const sizes = [1001, 500, 250, 125, 62, 31, 15].map((asked) => {
    size.timedOut(asked);
    return size.current;
  });
  t.deepEqual(sizes, [500, 250, 125, 62, 31, 15, 15]);
  size.succeeded(15, 15, 0.3);
  t.is(size.current, 15, 'a slow page does not make it grow');
  size.succeeded(15, 14, 0.01);
  t.is(size.current, 15, 'a partial page does not make it grow');
  for (let times = 0; times < 8; times += 1) size.succeeded(size.current, size.current, 0.2);
  t.is(size.current, 1000);
  const remembering = new PageSize();
  remembering.timedOut(1000);
  remembering.succeeded(500, 500, 0.01);
  t.is(remembering.current, 500, 'it does not grow shortly after a timeout');
});

test('a response that the client cannot parse is a transient error', async (t) => {
  const { log, proxied } = await logBehindProxy(t, { answers: withoutPosition(2) });
  const events = newEvents(3);
  await log.append('deposit-1', 'none', events);
  t.deepEqual(idsOf(await listOf(proxied.readStream('deposit-1'))), idsOf(events));
});

test('a subscription resumes after events that the client cannot parse', async (t) => {
  const answers = withoutPosition(2);
  const { log, proxied } = await logBehindProxy(t, {
    answers: (message, options) => (options.hasSubscription() ? answers(message) : [message]),
  });
  const events = newEvents(3);
  await log.append('deposit-1', 'none', events);
  const seen: RecordedEvent[] = [];
  const reasons: (string | undefined)[] = [];
  const onLastError = (reason: string | undefined) => reasons.push(reason);
  for await (const message of proxied.subscribe({ onLastError })) {
    if (message.kind === 'events') seen.push(...message.events);
    if (seen.length === 3) break;
  }
  t.deepEqual(idsOf(seen), idsOf(events));
  t.true(reasons[0]?.endsWith('has no position: the server must be 22.6 or newer.'), reasons[0]);
});

test('a response that can never be parsed is an error of the log, with its reason', async (t) => {
  const { log, proxied } = await logBehindProxy(
    t,
    { answers: withoutPosition(Infinity) },
    { retryTimeout: 200 },
  );
  await log.append('deposit-1', 'none', newEvents(1));
  const error = await t.throwsAsync(listOf(proxied.readStream('deposit-1')), {
    instanceOf: EventLogUnavailable,
  });
  t.regex(error.message, /^Reading deposit-1 failed: event .* has no position: the server must be/);
});

test('a position of another log is refused as such', async (t) => {
  const { proxied } = await logBehindProxy(t, {});
  const after = '0000000000000001';
  await t.throwsAsync(listOf(proxied.readAll({ after })), { instanceOf: InvalidPosition });
  await t.throwsAsync(listOf(proxied.subscribe({ after })), { instanceOf: InvalidPosition });
});

/** Removes the position from the first events that are answered. */
function withoutPosition(times: number) {
  let left = times;
  return (message: ReadResp): ReadResp[] => {
    const record = message.getEvent()?.getEvent();
    if (record && left > 0) {
      left -= 1;
      record.setCommitPosition(UNKNOWN_POSITION).setPreparePosition(UNKNOWN_POSITION);
    }
    return [message];
  };
}
