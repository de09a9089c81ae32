import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { FairLimiter } from '../../src/reactors/fair-limiter.ts';
import { until } from '../../testing/processes/until.ts';

/** Work that the limiter begins and the test ends. */
class Works {
  readonly begun: string[] = [];
  readonly #slots: FairLimiter;
  readonly #ends = new Map<string, () => void>();
  readonly #ended: Promise<void>[] = [];

  constructor(slots: FairLimiter) {
    this.#slots = slots;
  }

  add(name: string, owner = name, slots = 1): void {
    this.#ended.push(this.#slots.run(owner, () => this.#work(name), slots));
  }

  addAlone(name: string): void {
    this.#ended.push(this.#slots.runExclusive(() => this.#work(name)));
  }

  async end(...names: string[]): Promise<void> {
    await turn(); // everything that could begin has begun
    for (const name of names) this.#ends.get(name)?.();
    await turn();
  }

  ended(): Promise<unknown> {
    return Promise.all(this.#ended);
  }

  #work(name: string): Promise<void> {
    this.begun.push(name);
    return new Promise((resolve) => this.#ends.set(name, resolve));
  }
}

test('exclusive work starts when nothing else is running, and nothing starts concurrently', async (t) => {
  const works = new Works(new FairLimiter(4, 60_000));
  works.add('a');
  works.add('b');
  works.addAlone('hermit');
  works.addAlone('eremite');
  works.add('c');
  await works.end('a');
  t.deepEqual(works.begun, ['a', 'b']);
  await works.end('b');
  t.deepEqual(works.begun, ['a', 'b', 'hermit']);
  await works.end('hermit');
  t.deepEqual(works.begun, ['a', 'b', 'hermit', 'eremite']);
  works.add('d');
  await works.end('eremite');
  t.deepEqual(works.begun, ['a', 'b', 'hermit', 'eremite', 'c', 'd']);
  await works.end('c', 'd');
  await works.ended();
});

test('work starts after a limited wait for long work, both exclusive and concurrent', async (t) => {
  const works = new Works(new FairLimiter(3, 20));
  works.add('long');
  works.addAlone('hermit');
  works.add('short');
  await works.end();
  t.deepEqual(works.begun, ['long']);
  await until(async () => works.begun.length === 3);
  t.deepEqual(works.begun, ['long', 'hermit', 'short']);
  works.add('later');
  works.add('last');
  await works.end();
  t.deepEqual(works.begun.slice(3), ['later'], 'exclusive work has no permit any longer');
  await works.end('hermit');
  t.is(works.begun.length, 4, 'long work still has its permit');
  await works.end('short');
  t.is(works.begun.at(-1), 'last');
  await works.end('long', 'later', 'last');
  await works.ended();
});

test('work that needs several slots waits for them, and none that needs fewer starts before it', async (t) => {
  const works = new Works(new FairLimiter(8, 60_000));
  for (const [index, owner] of ['alice', 'bob', 'alice', 'bob', 'alice'].entries())
    works.add(`small ${index}`, owner);
  works.add('large', 'carol', 4);
  works.add('second large', 'carol', 4);
  works.add('later', 'bob');
  await works.end();
  t.deepEqual(works.begun.slice(5), []);
  await works.end('small 0');
  t.deepEqual(works.begun.slice(5), ['large']);
  await works.end('small 1');
  t.deepEqual(works.begun.slice(6), ['later'], 'an owner has half of the slots at most');
  await works.end('large');
  t.deepEqual(works.begun.slice(7), ['second large']);
  await works.end('small 2', 'small 3', 'small 4', 'later', 'second large');
  await works.ended();
});

test('work gets at most the slots that its owner may have', async (t) => {
  const works = new Works(new FairLimiter(4, 60_000));
  works.add('large', 'alice', 100);
  works.add('second', 'alice');
  await works.end();
  t.deepEqual(works.begun, ['large']);
  await works.end('large');
  t.deepEqual(works.begun, ['large', 'second']);
  await works.end('second');
  await works.ended();
});
