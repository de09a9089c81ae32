import { setTimeout } from 'node:timers/promises';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import test, { type ExecutionContext } from 'ava';
import type {
  EventLog,
  Position,
  RecordedEvent,
  SubscribeOptions,
} from '../../../src/event-log/event-log.ts';
import { logBehindProxy } from '../log-behind-proxy.ts';
import { eventually } from '../log-on-double.ts';
import { appendEach, idsOf, listOf, newEvents } from '../log-under-test.ts';

const DEPOSITS = { streamPrefixes: ['deposit-'] };
const HIGHEST = 2n ** 64n - 1n;

test('no checkpoint of the server makes a subscription skip an event', async (t) => {
  const answers = ofSubscriptions((message) => {
    const position = message.getEvent()?.getEvent()?.getCommitPosition();
    if (position === undefined) return [message];
    return [message, checkpoint(BigInt(position) + 1n), checkpoint(HIGHEST)];
  });
  const { log, double, proxied } = await logBehindProxy(t, { answers });
  const following = follow(t, proxied, DEPOSITS, 9);
  for (const number of [1, 2, 3]) {
    await appendEach(log, `deposit-${number}`, newEvents(3));
    await eventually(() => following.seen.length === 3 * number);
    if (number === 2) double.dropSubscriptions();
  }
  await following.ended;
  t.deepEqual(idsOf(following.seen), idsOf(await listOf(log.readAll())));
});

test('a premature caught-up message of the server skips no event', async (t) => {
  const answers = ofSubscriptions(async (message) => {
    if (message.hasConfirmation()) return [message, caughtUp()];
    await setTimeout(20);
    return [message];
  });
  const { log, proxied } = await logBehindProxy(t, { answers });
  await appendEach(log, 'deposit-1', newEvents(5));
  const following = follow(t, proxied, DEPOSITS, 5);
  await following.ended;
  t.deepEqual(idsOf(following.seen), idsOf(await listOf(log.readAll())));
});

test('an event that arrives twice in one batch is delivered once', async (t) => {
  const answers = ofSubscriptions((message) => (message.hasEvent() ? [message, message] : [message]));
  const { log, proxied } = await logBehindProxy(t, { answers });
  await log.append('deposit-1', 'none', newEvents(20));
  const slowly = () => setTimeout(100); // so that the others come in one batch
  const following = follow(t, proxied, DEPOSITS, 21, slowly);
  await log.append('deposit-2', 'none', newEvents(1));
  await following.ended;
  t.deepEqual(idsOf(following.seen), idsOf(await listOf(log.readAll())));
});

test('a dropped subscription resumes after the filtered events that it has read', async (t) => {
  const begins: (string | undefined)[] = [];
  const beforeRead = (options: ReadReq.Options) => {
    if (options.hasSubscription()) begins.push(options.getAll()?.getPosition()?.getCommitPosition());
    return undefined;
  };
  const { log, double, proxied } = await logBehindProxy(t, { beforeRead }, { callTimeout: 5000 });
  await log.append('deposit-1', 'none', newEvents(1));
  const others = await log.append('ids-deposit', 'none', newEvents(1500));
  const following = follow(t, proxied, DEPOSITS, 2);
  await eventually(() => following.caughtUpAt === others.position);
  const { length } = begins;
  double.dropSubscriptions();
  await eventually(() => begins.length > length);
  await log.append('deposit-1', 0, newEvents(1));
  await following.ended;
  const resumed = begins[length];
  t.is(resumed && BigInt(resumed), BigInt(`0x${others.position.split('-')[0]}`));
});

/**
 * Follows a log until `count` events have come. Fails the test when one comes at or before a position that was reported
 * as caught up with: who has noted that position would not count it.
 */
function follow(
  t: ExecutionContext,
  log: EventLog,
  options: SubscribeOptions,
  count: number,
  pause?: () => Promise<unknown>,
) {
  const following = {
    seen: [] as RecordedEvent[],
    caughtUpAt: undefined as Position | undefined,
    ended: Promise.resolve(),
  };
  const reading = async () => {
    for await (const message of log.subscribe(options)) {
      if (message.kind === 'caught-up') following.caughtUpAt = message.position;
      else {
        const { caughtUpAt = '' } = following;
        t.true(message.events.every(({ position }) => position > caughtUpAt));
        following.seen.push(...message.events);
      }
      if (following.seen.length >= count) return;
      await pause?.();
    }
  };
  following.ended = reading();
  return following;
}

type Answers = (message: ReadResp) => ReadResp[] | Promise<ReadResp[]>;

function ofSubscriptions(answers: Answers) {
  return (message: ReadResp, options: ReadReq.Options) =>
    options.hasSubscription() ? answers(message) : [message];
}

function checkpoint(position: bigint): ReadResp {
  const reached = new messages.ReadResp.Checkpoint()
    .setCommitPosition(String(position))
    .setPreparePosition(String(position));
  return new messages.ReadResp().setCheckpoint(reached);
}

function caughtUp(): ReadResp {
  return new messages.ReadResp().setCaughtUp(new messages.ReadResp.CaughtUp());
}
