import test, { type ExecutionContext } from 'ava';
import { UnreadableEvent } from '../../../src/domain/codec.ts';
import { EventLogUnavailable } from '../../../src/event-log/event-log.ts';
import { CircuitBreaker } from '../../../src/modules/webhooks/circuit-breaker.ts';
import { RestingDeposits } from '../../../src/modules/webhooks/resting-deposits.ts';
import { RetryScheduler } from '../../../src/modules/webhooks/retry-scheduler.ts';
import { CLOCK_OF_NODE } from '../../../src/tools/clock.ts';
import { silentLogger } from '../../../src/tools/logger.ts';
import { runInWorld } from '../../../src/tools/outside-world.ts';
import { until } from '../../../testing/processes/until.ts';

const gone = { taken: false, reason: 'Nobody answers.', isUnreachable: true, retryAfter: 0 } as const;
const unreadable = new UnreadableEvent('There is no event type NotificationPostponed.');

type Query = { readonly upTo?: unknown; readonly limit: number };

/** Starts a scheduler for a client of which these deposits are due, the oldest first, until they are removed. */
function scheduled(t: ExecutionContext, due: Set<number>, options: object): void {
  const scheduler = new RetryScheduler({
    webhooks: { current: (client: string) => ({ client }) },
    projector: { listen: () => () => undefined },
    undelivered: {
      counts: () => new Map([['alice', due.size]]),
      find: ({ upTo, limit }: Query) =>
        [...(upTo ? due : [])].slice(0, limit).map((depositId) => ({ depositId, reason: 'None.' })),
    },
    queries: { isCurrent: () => true, passed: async () => true },
    logger: silentLogger,
    giveUpAfter: Infinity,
    ...options,
  } as never);
  scheduler.start();
  t.teardown(() => scheduler.stop());
}

test('the only permit of a recovering receiver passes from deposits that cannot be read to the next one', async (t) => {
  const breaker = new CircuitBreaker({ firstPause: 10, longestPause: 10 });
  await breaker.deliver(async () => gone);
  const due = new Set([1, 2, 3]);
  const tried: number[] = [];
  const deliver = async (depositId: number): Promise<undefined> => {
    tried.push(depositId);
    if (depositId < 3) throw unreadable;
    await breaker.deliver(async () => ({ taken: true }));
    due.delete(depositId);
  };
  scheduled(t, due, { deliveries: { deliver }, sender: { breakerOf: () => breaker } });
  await until(async () => tried.length >= 3);
  t.deepEqual(tried, [1, 2, 3]);
});

for (const [name, error, asked] of [
  ['a deposit whose notifications cannot be read does not keep later ones from expiring', unreadable, [1, 2]],
  ['while the log is away, no further notifications expire', new EventLogUnavailable('It is away.'), [1, 1]],
] as const)
  test(name, async (t) => {
    const given: number[] = [];
    const giveUp = async (depositId: number) => {
      given.push(depositId);
      if (depositId === 1) throw error;
      return { count: 1 };
    };
    const sender = { breakerOf: () => ({ permits: 0 }) };
    scheduled(t, new Set([1, 2]), { deliveries: { giveUp }, sender, giveUpAfter: 10 });
    await until(async () => given.length >= 2);
    t.deepEqual(given.slice(0, 2), asked);
  });

test('a deposit rests longer after each failure, unless the error may pass; the number of them is bounded', async (t) => {
  let elapsed = 0;
  const clock = { ...CLOCK_OF_NODE, monotonic: () => elapsed };
  await runInWorld({ clock }, async () => {
    const resting = new RestingDeposits();
    const restOf = (id: number): number => {
      const begun = elapsed;
      while (resting.of('alice').has(id)) elapsed += 500;
      return elapsed - begun;
    };
    const rests = Array.from({ length: 10 }, () => {
      resting.failed('alice', 1, unreadable);
      return restOf(1);
    });
    t.true((rests[0] ?? 0) >= 7500 && (rests[0] ?? 0) <= 13_000, `${rests[0]} ms`);
    t.true((rests[1] ?? 0) >= 15_000, `${rests[1]} ms`);
    t.true((rests[9] ?? 0) >= 450_000 && (rests[9] ?? 0) <= 750_500, `${rests[9]} ms`);
    resting.succeeded(1);
    resting.failed('alice', 1, unreadable);
    t.true(restOf(1) <= 13_000, 'after a success it begins again');
    resting.failed('alice', 2, new EventLogUnavailable('It is away.'));
    t.is(restOf(2), 0);
    for (let id = 0; id < 3000; id += 1) resting.failed('alice', id, unreadable);
    const { size } = resting.of('alice');
    t.true(size <= 1000, `${size} deposits`);
    t.true(resting.of('alice').has(2999));
  });
});
