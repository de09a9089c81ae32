import test from 'ava';
import * as fc from 'fast-check';
import type { Json, JsonObject, NewEvent } from '../../src/event-log/event-log.ts';
import { toLogPosition, toPosition as toServerPosition } from '../../src/event-log/eventstoredb/position.ts';
import { chainFaults } from '../../src/event-log/integrity/chain-errors.ts';
import { canonicalJson, eventId, sealAfter } from '../../src/event-log/integrity/hash-chain.ts';
import { StreamHeads } from '../../src/event-log/integrity/stream-heads.ts';
import { InvalidPosition, positionNumber, toPosition } from '../../src/event-log/position.ts';
import { canonicalJson as independentJson } from '../../src/modules/console/proof/canonical-json.ts';
import { escapePath, unescapePath } from '../../src/swhid/escape-path.ts';
import { anyCharacter, oddText } from './odd-texts.ts';

const json = fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 4 }) as fc.Arbitrary<Json>;
const object = fc.dictionary(oddText, json, { maxKeys: 6 }) as fc.Arbitrary<JsonObject>;

test('the canonical form is the same for any order of keys', (t) => {
  fc.assert(
    fc.property(object, (value) => {
      const text = canonicalJson(value);
      t.is(text, canonicalJson(turned(value) as JsonObject));
      t.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      t.is(text, canonicalJson(JSON.parse(text) as Json));
      t.notRegex(text, /[\n\r]/);
    }),
  );
});

test('the canonical form is that of the second implementation, whatever the keys are', (t) => {
  const key = fc.oneof(oddText, fc.nat().map(String), fc.constantFrom('__proto__', 'toJSON', '-1', '01', ''));
  const members = fc.array(fc.tuple(key, fc.oneof(json, object)), { maxLength: 50 });
  fc.assert(
    fc.property(members, members, (outer, inner) => {
      const value = Object.fromEntries([...outer, ['inner', Object.fromEntries(inner)]]);
      t.is(canonicalJson(value), independentJson(value));
    }),
  );
});

/** Returns a copy with the keys of all objects in the reverse order. */
function turned(value: Json): Json {
  if (Array.isArray(value)) return value.map(turned);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value as JsonObject).toReversed();
  return Object.fromEntries(members.map(([key, member]) => [key, turned(member)]));
}

const events = fc.array(
  fc.record({
    type: fc.constantFrom('ArchiveAdded', 'DepositDeleted'),
    data: object,
    metadata: fc.record({ by: oddText }),
  }),
  { minLength: 1, maxLength: 5 },
);

function recorded(list: readonly Omit<NewEvent, 'id'>[]) {
  const sealed = sealAfter(
    'deposit-7',
    'none',
    null,
    list.map((event, index) => ({ ...event, id: eventId('command', index) })),
  );
  return sealed.map((event, revision) => ({
    ...event,
    stream: 'deposit-7',
    revision,
    position: toPosition(revision + 1),
  }));
}

function problemsOf(chain: ReturnType<typeof recorded>): string[] {
  const heads = new StreamHeads();
  return chain
    .flatMap((event) => chainFaults(JSON.parse(JSON.stringify(event)), heads))
    .map(([code]) => code);
}

test('an unchanged chain is valid, also after a round trip through JSON', (t) => {
  fc.assert(fc.property(events, (list) => t.deepEqual(problemsOf(recorded(list)), [])));
});

test('any change of an event of a chain is detected', (t) => {
  fc.assert(
    fc.property(events, fc.nat(), fc.nat({ max: 6 }), (list, place, kind) => {
      const chain = recorded(list);
      const at = place % chain.length;
      const event = chain[at] as (typeof chain)[number];
      const { by } = event.metadata as { by: string };
      const changes = [
        { data: { ...event.data, added: 1 } },
        { data: { nested: event.data } },
        { type: `${event.type}s` },
        { id: eventId('another command', at) },
        { revision: event.revision + 1 },
        { stream: 'deposit-8' },
        { metadata: { ...event.metadata, by: `${by}.` } },
      ];
      chain[at] = { ...event, ...changes[kind] };
      t.not(problemsOf(chain).length, 0);
    }),
  );
});

test('a removed, duplicated or moved event is detected', (t) => {
  fc.assert(
    fc.property(fc.tuple(events, events, events), (lists) => {
      const chain = recorded(lists.flat());
      t.not(problemsOf(chain.toSpliced(1, 1)).length, 0);
      t.not(problemsOf([...chain.slice(0, 1), ...chain]).length, 0);
      t.not(problemsOf(chain.toReversed()).length, 0);
    }),
  );
});

test('positions are ordered like the events, and parsed as written', (t) => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (a, b) => {
      t.is(positionNumber(toPosition(a)), a);
      t.is(toPosition(a) < toPosition(b), a < b);
    }),
  );
  const unsigned = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  fc.assert(
    fc.property(unsigned, unsigned, unsigned, (commit, prepare, other) => {
      t.deepEqual(toLogPosition(toServerPosition({ commit, prepare })), { commit, prepare });
      const [one, two] = [
        { commit, prepare },
        { commit: other, prepare },
      ].map(toServerPosition) as [string, string];
      t.is(one < two, commit < other);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      t.throws(() => positionNumber(`x${text}`), { instanceOf: InvalidPosition });
    }),
  );
});

test('a listing returns paths with any bytes', (t) => {
  const path = fc
    .uint8Array({ minLength: 1, maxLength: 40 })
    .map((bytes) => Buffer.from(bytes).toString('latin1'));
  fc.assert(
    fc.property(path, (text) => {
      t.is(unescapePath(escapePath(text)), text);
      t.regex(escapePath(text), /^[\x20-\x7e]*$/);
    }),
  );
});
