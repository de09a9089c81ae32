import test from 'ava';
import type { JsonObject } from '../../src/event-log/event-log.ts';
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

const DEEP = upTo(100).reduce<JsonObject>((inner, depth) => ({ depth, inner: [inner] }), {});

/** Data that stores are known to change. */
const DATA: Record<string, JsonObject> = {
  'text in many scripts': { text: 'Ångström 数据 🧬 \u202Eright\u202C e\u0301', Ключ: 'значение' },
  'control bytes and a lone surrogate': { text: 'a\u0000b\u001f\u2028\ud800', quotes: `"'\`\\` },
  numbers: { numbers: [0, -1, 0.1, 1e300, 5e-324, Number.MAX_SAFE_INTEGER, -1.5e-7] },
  'empty things': { object: {}, list: [], text: '', nothing: null, no: false },
  'a member called __proto__': JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}') as JsonObject,
  'a hundred levels': DEEP,
  '100 kB': { text: 'é'.repeat(50_000) },
};

export function readingContract(engine: LogEngine): void {
  readingBack(engine);
  readingOneStream(engine);
  readingAll(engine);
}

function readingBack(engine: LogEngine): void {
  for (const [what, data] of Object.entries(DATA)) {
    test.serial(`${what}: is returned exactly as data and as metadata`, async (t) => {
      const { log, stream } = await logUnderTest(t, engine);
      const event = { ...newEvent(data, 'Überraschung'), metadata: data };
      await log.append(stream('a'), 'none', [event]);
      const [found] = await listOf(log.readStream(stream('a')));
      t.deepEqual(found, { ...event, stream: stream('a'), revision: 0, position: found?.position ?? '' });
      t.is(JSON.stringify(found?.data), JSON.stringify(data));
    });
  }

  test.serial('streams with special characters in their names are separate', async (t) => {
    const { log, stream, own } = await logUnderTest(t, engine);
    const names = [
      '__proto__',
      "it's",
      'a"b',
      'a%b',
      'a_b',
      'aXb',
      'A"B',
      'ü',
      'constructor',
      ' ',
      '*',
      'a\\b',
    ];
    for (const name of names) await log.append(stream(name), 'none', [newEvent({ name })]);
    for (const name of names) {
      const found = await listOf(log.readStream(stream(name)));
      t.deepEqual(
        found.map(({ data }) => data),
        [{ name }],
      );
    }
    const all = await listOf(log.readAll(own));
    t.deepEqual(
      all.map(({ stream: of }) => of),
      names.map((name) => stream(name)),
    );
  });
}

function readingOneStream(engine: LogEngine): void {
  test.serial('an unknown stream is empty', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    t.deepEqual(await listOf(log.readStream(stream('a'))), []);
    t.deepEqual(await listOf(log.readStream(stream('a'), { backwards: true })), []);
  });

  test.serial('a stream is read from a revision, backwards and in part', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    await log.append(stream('a'), 'none', newEvents(6));
    await log.append(stream('b'), 'none', newEvents(2));
    const read = async (options: Parameters<typeof log.readStream>[1]) =>
      revisionsOf(await listOf(log.readStream(stream('a'), options)));
    t.deepEqual(await read({}), [0, 1, 2, 3, 4, 5]);
    t.deepEqual(await read({ from: 4 }), [4, 5]);
    t.deepEqual(await read({ from: 6 }), []);
    t.deepEqual(await read({ limit: 2 }), [0, 1]);
    t.deepEqual(await read({ limit: 0 }), []);
    t.deepEqual(await read({ from: 1, limit: 2 }), [1, 2]);
    t.deepEqual(await read({ backwards: true }), [5, 4, 3, 2, 1, 0]);
    t.deepEqual(await read({ backwards: true, limit: 1 }), [5]);
    t.deepEqual(await read({ backwards: true, from: 2 }), [2, 1, 0]);
    t.deepEqual(await read({ backwards: true, from: 99, limit: 2 }), [5, 4]);
    t.deepEqual(await read({ backwards: true, from: 0 }), [0]);
  });

  test.serial('a long stream is read completely, in both directions', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    const COUNT = 2_300;
    for (let done = 0; done < COUNT; done += 100) {
      await log.append(stream('a'), done === 0 ? 'none' : done - 1, newEvents(100));
    }
    t.deepEqual(revisionsOf(await listOf(log.readStream(stream('a')))), upTo(COUNT));
    const back = revisionsOf(await listOf(log.readStream(stream('a'), { backwards: true, limit: 2_100 })));
    t.deepEqual(back, upTo(COUNT).toReversed().slice(0, 2_100));
  });

  test.serial('a read whose signal is aborted rejects with the reason', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    await log.append(stream('a'), 'none', newEvents(2));
    const signal = AbortSignal.abort(new Error('no longer wanted'));
    await t.throwsAsync(listOf(log.readStream(stream('a'), { signal })), { message: 'no longer wanted' });
    await t.throwsAsync(listOf(log.readAll({ signal })), { message: 'no longer wanted' });
  });
}

function readingAll(engine: LogEngine): void {
  test.serial(
    'the order of all events is the order of the appends, and positions increase with it',
    async (t) => {
      const { log, stream, own } = await logUnderTest(t, engine);
      const events = newEvents(30);
      const positions = [];
      for (const [index, event] of events.entries()) {
        const appended = await log.append(stream(`s${index}`), 'none', [event]);
        positions.push(appended.position);
      }
      const all = await listOf(log.readAll(own));
      t.deepEqual(idsOf(all), idsOf(events));
      t.deepEqual(
        all.map(({ position }) => position),
        positions,
      );
      t.deepEqual([...new Set(positions)].sort(), positions);
    },
  );

  test.serial('reading after a position returns the events after it', async (t) => {
    const { log, stream, own } = await logUnderTest(t, engine);
    await appendEach(log, stream('a'), newEvents(5));
    const all = await listOf(log.readAll(own));
    for (const [index, { position }] of all.entries()) {
      const rest = await listOf(log.readAll({ ...own, after: position }));
      t.deepEqual(rest, all.slice(index + 1));
    }
  });

  test.serial('only streams whose name begins with a prefix are read', async (t) => {
    const { log, stream, own } = await logUnderTest(t, engine);
    const names = ['deposit-1', 'deposit%', 'client-a', 'xdeposit-1', 'DEPOSIT-2', 'collection-c'].map(
      stream,
    );
    for (const name of names) await log.append(name, 'none', [newEvent()]);
    const read = async (...streamPrefixes: string[]) => {
      const found = await listOf(log.readAll({ ...own, streamPrefixes }));
      return found.map(({ stream: of }) => of);
    };
    t.deepEqual(await read(stream('deposit-')), [stream('deposit-1')]);
    t.deepEqual(await read(stream('deposit%')), [stream('deposit%')]);
    t.deepEqual(await read(stream('client-'), stream('collection-')), [
      stream('client-a'),
      stream('collection-c'),
    ]);
    t.deepEqual(await read(stream('nothing-')), []);
    const unfiltered = await listOf(log.readAll({ after: own.after }));
    t.true(names.every((name) => unfiltered.some(({ stream: of }) => of === name)));
  });

  test.serial('a prefix finds its few events among many others', async (t) => {
    const { log, stream, own } = await logUnderTest(t, engine);
    const rare = [newEvent(), newEvent(), newEvent()] as const;
    await log.append(stream('rare-1'), 'none', [rare[0]]);
    await fill(log, stream('many-1'), 5_500);
    await log.append(stream('rare-2'), 'none', [rare[1]]);
    await fill(log, stream('many-2'), 1_200);
    await log.append(stream('rare-3'), 'none', [rare[2]]);
    const found = await listOf(log.readAll({ ...own, streamPrefixes: [stream('rare-')] }));
    t.deepEqual(idsOf(found), idsOf(rare));
    t.is((await listOf(log.readAll(own))).length, 6_703);
  });

  test.serial('the head is the position of the last event', async (t) => {
    const { log, stream } = await logUnderTest(t, engine);
    if (engine.startsEmpty) t.is(await log.head(), undefined);
    const { position } = await log.append(stream('a'), 'none', newEvents(2));
    const head = await log.head();
    t.true(head !== undefined && head >= position);
    if (engine.startsEmpty) t.is(head, position);
  });
}

async function fill(log: Awaited<ReturnType<typeof logUnderTest>>['log'], stream: string, count: number) {
  for (let done = 0; done < count; done += 100) {
    await log.append(stream, done === 0 ? 'none' : done - 1, newEvents(100));
  }
}
