import { readFileSync } from 'node:fs';
import test from 'ava';
import * as aggregates from '../../src/domain/aggregates.ts';
import { describeClientEvent } from '../../src/domain/client/describe.ts';
import { codec } from '../../src/domain/codec.ts';
import { describeCollectionEvent } from '../../src/domain/collection/describe.ts';
import { describeDepositEvent } from '../../src/domain/deposit/describe.ts';
import { statusAfter } from '../../src/domain/deposit/status-detail.ts';
import { type Parking, waitingEvents } from '../../src/domain/parking/parking.ts';
import { describePersonEvent } from '../../src/domain/person/describe.ts';
import type { JsonObject, NewEvent } from '../../src/event-log/event-log.ts';
import { hashOf } from '../../src/event-log/integrity/hash-chain.ts';

/**
 * Streams as they were once written, with an event of every type and version that ever existed. They are never
 * changed, as existing logs do not change either. A new version of an event adds a stream.
 */
type StoredStream = {
  readonly stream: string;
  readonly events: readonly (NewEvent & {
    readonly revision: number;
    /** The data as they are read today, if they were written differently. */
    readonly readAs?: JsonObject;
  })[];
  /** Statuses after each event; if the state has a status. */
  readonly statuses?: readonly string[];
  /** The state after the last event. */
  readonly state: JsonObject;
};

const fixture = new URL('../fixtures/stored-events.json', import.meta.url);
const streams = JSON.parse(readFileSync(fixture, 'utf8')) as readonly StoredStream[];

/** Each is called only with its own events and states. */
type AnyAggregate = aggregates.Aggregate<object, never, { type: string; data: object }>;
const everyAggregate = Object.values<object>(aggregates).filter(
  (exported): exported is AnyAggregate => 'codec' in exported,
);

function aggregateOf({ stream }: StoredStream): AnyAggregate {
  const found = everyAggregate.find(({ prefix }) => stream.startsWith(prefix));
  if (!found) throw new Error(`No aggregate has streams like ${stream}.`);
  return found;
}

test('there is a sample of every version of every event type, and of no other', (t) => {
  for (const aggregate of everyAggregate) {
    const samples = streams
      .filter((stored) => aggregateOf(stored) === aggregate)
      .flatMap(({ events }) =>
        events.map(({ type, metadata }) => `${type} ${JSON.stringify(metadata['schemaVersion'])}`),
      );
    const known = [...aggregate.codec.versions].flatMap(([type, newest]) =>
      Array.from({ length: newest }, (_, index) => `${type} ${index + 1}`),
    );
    t.true(known.length > 0);
    t.deepEqual([...new Set(samples)].sort(), known.sort(), aggregate.prefix);
  }
});

for (const stored of streams) {
  const { stream, events, statuses, state: expected } = stored;
  const { codec, decider } = aggregateOf(stored);

  test(`the events of ${stream} are read as before`, (t) => {
    for (const { type, data, metadata, readAs = data } of events) {
      t.deepEqual(codec.read({ type, data, metadata }), { type, data: readAs });
    }
  });

  test(`the events of ${stream} fold to the same state as before`, (t) => {
    let state = decider.initial;
    for (const [index, event] of events.entries()) {
      state = decider.evolve(state, codec.read(event));
      if (statuses) t.is((state as { status: unknown }).status, statuses[index], `after ${event.type}`);
      if (stream.startsWith(aggregates.deposits.prefix))
        t.is(statuses?.[index], statusAfter(event.type) ?? statuses?.[index - 1], `after ${event.type}`);
    }
    t.deepEqual(
      stream.startsWith(aggregates.parkings.prefix) ? parkedById(state as Parking) : state,
      expected,
    );
  });

  test(`the hashes of ${stream} are the same as before`, (t) => {
    let before: unknown = null;
    for (const [index, event] of events.entries()) {
      t.is(event.revision, index);
      t.is(event.metadata['prevHash'], before as string, event.type);
      t.is(event.metadata['hash'], hashOf(stream, index, event), event.type);
      before = event.metadata['hash'];
    }
  });
}

/** Reduces the list of decisions to its result. */
function parkedById(parking: Parking): object {
  return Object.fromEntries(waitingEvents(parking).map((parked) => [parked.eventId, parked]));
}

test('an event is upcast step by step from its version; an unknown version is refused', (t) => {
  const step = (name: string) => (data: unknown) => ({
    steps: [...(data as { steps: string[] }).steps, name],
  });
  const { read, versionOf } = codec<{ type: 'Changed'; data: object }>({
    Changed: [step('to 2'), step('to 3')],
  });
  const readAs = (schemaVersion: unknown) =>
    read({ type: 'Changed', data: { steps: [] }, metadata: { schemaVersion } }).data;
  t.is(versionOf('Changed'), 3);
  t.deepEqual([1, 2, 3].map(readAs), [{ steps: ['to 2', 'to 3'] }, { steps: ['to 3'] }, { steps: [] }]);
  for (const never of [0, -1, 4, '1', undefined]) {
    t.throws(() => readAs(never), { code: 'UNREADABLE_EVENT' });
  }
});

test('all stored event types are described in a sentence', (t) => {
  const descriptions = {
    'deposit-': describeDepositEvent,
    'client-': describeClientEvent,
    'collection-': describeCollectionEvent,
    'person-': describePersonEvent,
  } as Readonly<Record<string, (event: never) => { sentence: string }>>; // each gets the events of its own streams
  for (const stored of streams) {
    const { prefix, codec } = aggregateOf(stored);
    for (const event of stored.events) {
      const sentence = descriptions[prefix]?.(codec.read(event) as never).sentence;
      if (sentence !== undefined) t.regex(sentence, /^[A-Z][^{}[\]]*\.$/);
      t.notRegex(sentence ?? '', /undefined|null|NaN|\[object/);
    }
  }
});
