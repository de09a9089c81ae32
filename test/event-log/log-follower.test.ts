import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { hasPrefix, type RecordedEvent, type SubscriptionMessage } from '../../src/event-log/event-log.ts';
import { LogFollower } from '../../src/event-log/log-follower.ts';
import { positionNumber, toPosition } from '../../src/event-log/position.ts';

const PAGE = 100;

/**
 * Returns a log that grows, every third event in a client's stream, and a follower whose reads of it are counted. A
 * commit is pushed, or made by another process.
 */
function followedLog() {
  const all: RecordedEvent[] = [];
  let [read, changed] = [0, false];
  // Polling does not keep a process alive; a service has sockets for that.
  const alive = setInterval(() => {}, 1000);
  const grow = (count: number): void => {
    for (let left = count; left > 0; left -= 1) {
      const number = all.length + 1;
      const stream = number % 3 === 0 ? `client-${number}` : `deposit-${number}`;
      all.push({ stream, position: toPosition(number) } as RecordedEvent); // no other part of it is used
    }
  };
  const hasChanged = (): boolean => {
    const was = changed;
    changed = false;
    return was;
  };
  const follower = new LogFollower({
    read: (after, prefixes) => {
      const start = positionNumber(after);
      const page = all.slice(start, start + PAGE);
      read += page.length;
      const upTo = start + page.length;
      return {
        events: page.filter(({ stream }) => hasPrefix(stream, prefixes)),
        upTo: upTo === 0 ? undefined : toPosition(upTo),
        atEnd: upTo === all.length,
      };
    },
    poll: { hasChanged, interval: 5 },
  });
  return {
    pushed(count: number): void {
      const before = all.length;
      grow(count);
      follower.committed(toPosition(before), toPosition(all.length), () => all.slice(before));
    },
    byAnotherProcess(count: number): void {
      grow(count);
      changed = true;
    },
    follow: (after: number, streamPrefixes?: readonly string[]) =>
      new Followed(
        follower.subscribe({
          after: after === 0 ? undefined : toPosition(after),
          ...(streamPrefixes && { streamPrefixes }),
        }),
      ),
    [Symbol.dispose]: () => {
      follower[Symbol.dispose]();
      clearInterval(alive);
    },
    read: () => read,
  };
}

class Followed {
  readonly #messages: AsyncIterator<SubscriptionMessage>;

  constructor(messages: AsyncIterable<SubscriptionMessage>) {
    this.#messages = messages[Symbol.asyncIterator]();
  }

  /** Resolves to the numbers of the events up to the next report that all were delivered. */
  async next(): Promise<number[]> {
    const numbers: number[] = [];
    while (true) {
      const { value } = await this.#messages.next();
      if (value?.kind !== 'events') return numbers;
      for (const { position } of (value as { events: readonly RecordedEvent[] }).events)
        numbers.push(positionNumber(position));
    }
  }
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('pushed events reach every subscriber, filtered, without a read', async (t) => {
  using log = followedLog();
  log.pushed(20);
  const [one, other] = [log.follow(10), log.follow(20, ['client-'])];
  t.deepEqual(await one.next(), numbers(11, 20));
  t.deepEqual(await other.next(), []);
  const read = log.read();
  log.pushed(7);
  log.pushed(3);
  t.deepEqual(await one.next(), numbers(21, 30));
  t.deepEqual(await other.next(), [21, 24, 27, 30]);
  t.is(log.read(), read);
});

test('commits of another process are read once for all, and pushes after such a gap are not lost', async (t) => {
  using log = followedLog();
  log.pushed(5);
  const followed = [log.follow(5), log.follow(5)];
  for (const each of followed) t.deepEqual(await each.next(), []);
  log.byAnotherProcess(4);
  for (const each of followed) t.deepEqual(await each.next(), numbers(6, 9));
  t.is(log.read(), 4);
  log.byAnotherProcess(1);
  log.pushed(2);
  for (const each of followed) t.deepEqual(await each.next(), numbers(10, 12));
  t.is(log.read(), 7, 'the events after the gap, once');
});

test('a subscriber that is far behind reads cold pages, in order up to the events in memory', async (t) => {
  using log = followedLog();
  log.pushed(1);
  const first = log.follow(1);
  t.deepEqual(await first.next(), []);
  log.pushed(2500);
  const late = log.follow(0);
  t.deepEqual(await late.next(), numbers(1, 2501));
  t.true(log.read() >= 1501, `${log.read()} events read: a thousand are buffered`);
  t.deepEqual(await first.next(), numbers(2, 2501));
  log.byAnotherProcess(1300);
  t.deepEqual(await first.next(), numbers(2502, 3801));
  t.deepEqual(await late.next(), numbers(2502, 3801));
});

test('an earlier subscriber gets each commit first, even if it processed the previous one more slowly', async (t) => {
  using log = followedLog();
  log.pushed(1);
  const order: string[] = [];
  const follow = async (name: string, turns: number): Promise<void> => {
    const followed = log.follow(1);
    for (let commits = 0; commits <= 3; commits += 1) {
      await followed.next();
      order.push(name);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    }
  };
  const ended = Promise.all([follow('earlier', 20), follow('later', 0)]);
  for (let commits = 0; commits < 3; commits += 1) {
    await setImmediate();
    log.pushed(1);
  }
  await ended;
  t.deepEqual(
    order,
    [0, 1, 2, 3].flatMap(() => ['earlier', 'later']),
  );
});
