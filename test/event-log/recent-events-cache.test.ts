import test from 'ava';
import type { RecordedEvent } from '../../src/event-log/event-log.ts';
import { toPosition } from '../../src/event-log/position.ts';
import { RecentEventsCache } from '../../src/event-log/recent-events-cache.ts';

/**
 * Returns a log of this number of events, every third of a client's stream, and a cache whose reads of it are counted.
 */
function tailOf(count: number) {
  const all = Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    const stream = number % 3 === 0 ? `client-${number}` : `deposit-${number}`;
    return { stream, position: toPosition(number) } as RecordedEvent; // no other part of it is used
  });
  const tail = new RecentEventsCache();
  let read = 0;
  const behind = (after: number, head: number, prefixes?: readonly string[]) => {
    const events = tail.eventsAfter(toPosition(after), toPosition(head), prefixes, (position) => {
      const found = all.filter((event) => event.position > position && event.position <= toPosition(head));
      read += found.length;
      return found;
    });
    return events?.map(({ position }) => Number.parseInt(position, 16));
  };
  const append = (from: number, to: number) =>
    tail.append(toPosition(from - 1), () => all.slice(from - 1, to));
  return { behind, append, read: () => read };
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('whoever follows gets what is behind its place, of its streams, and each event is read once', (t) => {
  const { behind, read } = tailOf(100);
  t.deepEqual(behind(10, 20), numbers(11, 20));
  t.deepEqual(behind(15, 20), numbers(16, 20));
  t.deepEqual(behind(12, 30, ['client-']), [15, 18, 21, 24, 27, 30]);
  t.deepEqual(behind(30, 30), []);
  t.deepEqual(behind(10, 30), numbers(11, 30));
  t.is(read(), 20);
  t.is(behind(9, 30), undefined, 'what lies before the tail is read elsewhere');
});

test('who comes behind a gap begins the tail anew, and it forgets what is old', (t) => {
  const { behind } = tailOf(3000);
  behind(10, 20);
  t.deepEqual(behind(900, 1000), numbers(901, 1000));
  t.is(behind(15, 1000), undefined);
  t.deepEqual(behind(1000, 2000), numbers(1001, 2000));
  t.deepEqual(behind(1000, 2000), numbers(1001, 2000));
  t.is(behind(999, 2000), undefined, 'a thousand are held');
});

test('events that follow the end of the tail need not be read; behind a gap they are', (t) => {
  const { behind, read, append } = tailOf(100);
  append(5, 6);
  t.deepEqual(behind(10, 20), numbers(11, 20));
  append(21, 22);
  append(31, 33);
  t.deepEqual(behind(20, 22), [21, 22]);
  t.deepEqual([behind(10, 22), read()], [numbers(11, 22), 10]);
  t.deepEqual(behind(20, 33), numbers(21, 33));
  t.is(read(), 21, 'those behind the gap');
});
