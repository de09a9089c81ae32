import { readFile } from 'node:fs/promises';
import test from 'ava';
import type { ArchiveKind } from '../../simulation/archives/archive-workers.ts';
import { ServerLog } from '../../simulation/cluster/server-log.ts';
import type { Answer, Failure } from '../../simulation/history/answer.ts';
import type { EndedHistory } from '../../simulation/history/ended-history.ts';
import { keyOf } from '../../simulation/history/lost-objects.ts';
import { recorded } from '../../simulation/history/recorded.ts';
import { sendPiece, uploadedBytes } from '../../simulation/history/upload-pieces.ts';
import { INVARIANTS, judge } from '../../simulation/invariants/invariants.ts';
import { S3Server } from '../../simulation/network/s3-server.ts';
import type { SimulatedNode } from '../../simulation/nodes/simulated-node.ts';
import { Host, Incarnation } from '../../simulation/world/host.ts';
import { setWorld, World } from '../../simulation/world/world.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import { referencedObjects } from '../../src/domain/deposit/objects-of-events.ts';
import type { NewEvent } from '../../src/event-log/event-log.ts';
import { sealAfter } from '../../src/event-log/integrity/hash-chain.ts';

type InvariantName = keyof typeof INVARIANTS;
type Streams = Readonly<Record<string, readonly NewEvent[]>>;
type Violating = {
  readonly broken: () => EndedHistory | Promise<EndedHistory>;
  /** Invariants that do not hold then either. */
  readonly also?: readonly InvariantName[];
};

const fixture = new URL('../fixtures/stored-events.json', import.meta.url);
const STORED = JSON.parse(await readFile(fixture, 'utf8')) as { stream: string; events: NewEvent[] }[];
/** A deposit that was loaded, one that is partial, and notifications that were held. */
const [LOADED, PARTIAL, HELD] = ['deposit-6', 'deposit-7', 'notifications-3'];
const ARCHIVE = '1'.repeat(64);

const LEGAL: Streams = {
  'ids-deposit': [newEvent('DepositIdsReserved', { first: 6, count: 10 })],
  [LOADED]: stored(LOADED),
  [PARTIAL]: stored(PARTIAL).slice(0, 2),
  [HELD]: stored(HELD),
};

const CREATED: Answer = {
  begunAt: 1000,
  endedAt: 1200,
  node: 'http-1',
  wasPaused: false,
  command: 'create',
  deposit: 'd1',
  isFinal: true,
  key: undefined,
  outcome: { kind: 'success', depositId: 6, revision: 3, shown: { revision: 3 } },
};
const CREATED_OTHER: Answer = {
  ...CREATED,
  deposit: 'd2',
  isFinal: false,
  outcome: { kind: 'success', depositId: 7, revision: 0, shown: { revision: 0 } },
};

const RECEIVED: EndedHistory['received'] = [
  ...[0, 3, 4, 5, 6].map((revision) => ({ depositId: 6, revision })),
  { depositId: 7, revision: 0 },
].map((event, index) => ({ ...event, at: 2000 + index, sender: 'reactors-1', isAnswered: true }));

const EARLY_RETRY = {
  name: `${LOADED}@3`,
  sender: 'reactors-1',
  askedAt: 20_000,
  at: 21_000,
  waitUntil: 30_000,
};

const PARKED = newEvent('EventParked', {
  reactor: 'loader',
  eventId: 'e',
  stream: LOADED,
  revision: 3,
  reason: 'It was away.',
});
const RETRIED = newEvent('ParkedRetried', { reactor: 'loader', eventId: 'e' });

/** For each invariant a small history that breaks it. */
const VIOLATING: Readonly<Record<InvariantName, Violating>> = {
  lost: { broken: () => ended({ streams: { [LOADED]: stored(LOADED).slice(0, 3) } }) },
  'commit-lost': { broken: () => ended({ logFaults: ['deposit-6@0 was committed and is not in the file'] }) },
  'piece-lost': { broken: async () => ended({ pieceFaults: await lostPieces() }) },
  'object-lost': {
    broken: () => {
      const history = ended();
      history.store.objects.delete(keyOf(ARCHIVE));
      return history;
    },
  },
  'upload-left': {
    broken: () => {
      const history = ended();
      history.store.uploads.begin('incoming/1', new Incarnation(new Host('http-1', 'http')));
      return history;
    },
  },
  twice: {
    broken: () => ended({ streams: { [LOADED]: [...stored(LOADED), stored(LOADED)[6] as NewEvent] } }),
    also: ['event-twice', 'illegal', 'unnotified'],
  },
  'event-twice': {
    broken: () => {
      const reserved = newEvent('DepositIdsReserved', { first: 6, count: 10 });
      return ended({
        streams: { 'ids-deposit': [reserved, { ...reserved, data: { first: 16, count: 1 } }] },
      });
    },
  },
  'key-twice': {
    broken: () => ended({ answers: [CREATED, CREATED_OTHER].map((answer) => ({ ...answer, key: 'k' })) }),
  },
  'ids-overlap': {
    broken: () => {
      const ranges = [6, 15].map((first) => newEvent('DepositIdsReserved', { first, count: 10 }));
      return ended({ streams: { 'ids-deposit': ranges } });
    },
  },
  'id-twice': { broken: () => ended({ answers: [CREATED, { ...CREATED, deposit: 'd2' }] }) },
  chain: {
    broken: () => {
      const history = ended();
      Object.assign(history.log.stream(LOADED)[1]?.metadata ?? {}, { actor: null });
      return history;
    },
  },
  illegal: { broken: () => ended({ streams: { [LOADED]: stored(LOADED).toSpliced(5, 1) } }) },
  stuck: { broken: () => ended({ streams: { [LOADED]: stored(LOADED).slice(0, 5) } }) },
  'wrong-end': { broken: () => ended({ archiveKinds: new Map([[ARCHIVE, 'damaged']]) }) },
  parked: { broken: () => ended({ streams: { 'parked-loader': [PARKED, RETRIED] } }) },
  unnotified: { broken: () => ended({ received: RECEIVED.slice(1) }) },
  order: { broken: () => ended({ received: RECEIVED.toReversed() }) },
  'old-answer': {
    broken: () =>
      ended({
        answers: [
          { ...CREATED, outcome: { kind: 'success', depositId: 6, revision: 3, shown: { revision: 2 } } },
        ],
      }),
  },
  'early-outage': { broken: () => ended({ answers: [failed('EVENT_LOG_UNAVAILABLE', 'It is away.')] }) },
  'false-conflict': {
    broken: () => ended({ answers: [failed('CONCURRENT_WRITES', `${LOADED} is written to.`)] }),
  },
  'false-refusal': {
    broken: () => ended({ answers: [failed('DEPOSIT_NOT_FOUND', 'Deposit 7 not found.')] }),
  },
  answer: { broken: () => ended({ answers: [failed('NO_SUCH_TABLE', 'There is no such table.')] }) },
  view: {
    broken: () => {
      const shown = (view: string) => (view === 'deposit-status' ? new Map() : undefined);
      const node = { process: { name: 'http-1' }, shown };
      return ended({ nodes: [node as unknown as SimulatedNode] });
    },
  },
  surprise: { broken: () => ended({ unhandled: ['TypeError: x is not a function'] }) },
  repeated: { broken: () => ended({ received: RECEIVED.flatMap((one) => [one, { ...one, at: 3000 }]) }) },
  'early-retry': { broken: () => ended({ earlyRetries: [EARLY_RETRY] }) },
  claim: {
    broken: () => {
      const until = { depositId: 3, attempt: 1, nextTryAt: '2026-03-02T10:00:12.340Z' };
      const early = stored(HELD).toSpliced(3, 0, newEvent('DeliveryTried', until));
      return ended({ streams: { [HELD]: early } });
    },
  },
  standing: {
    broken: () => {
      const standing = { at: 9000, took: 2, node: 'reactors-1', waiting: 0, unacknowledged: [`${LOADED}@3`] };
      return ended({ standings: [standing] });
    },
  },
};

test.beforeEach(() => setWorld(new World(1)));
test.afterEach.always(() => setWorld(undefined));

test.serial('a history without a fault breaks no invariant', (t) => {
  t.deepEqual(judge(ended()), []);
});

for (const [name, { broken, also = [] }] of Object.entries(VIOLATING)) {
  test.serial(`the invariant ${name} can be broken`, async (t) => {
    const violations = judge(await broken());
    t.false(violations.some(({ text }) => text.includes('cannot be judged')));
    const kinds = new Set(violations.map(({ kind }) => kind));
    t.deepEqual([...kinds].toSorted(), [name, ...also].toSorted());
  });
}

test.serial('an event may be parked for an object that a power cut lost, and must be retried', (t) => {
  const kindsAfter = (...decisions: readonly NewEvent[]) => {
    const history = ended({ streams: { 'parked-loader': decisions } });
    history.store.lost.add(keyOf(ARCHIVE));
    return judge(history).map(({ kind }) => kind);
  };
  t.deepEqual(kindsAfter(PARKED), ['parked']);
  t.deepEqual(kindsAfter(PARKED, RETRIED), []);
});

test.serial('a node that fails, is absent, logs an error or never ends is a surprise', (t) => {
  for (const surprise of [{ failures: ['x'] }, { absent: ['x'] }, { errors: ['x'] }, { isCutOff: true }])
    t.is(judge(ended(surprise))[0]?.kind, 'surprise', JSON.stringify(surprise));
});

test.serial('each lost piece of an upload is named', async (t) => {
  t.deepEqual(await lostPieces(), [
    'the upload u was acknowledged up to 6, and has 2',
    'the upload u has other bytes than were acknowledged',
    'the upload v is gone',
    'the upload v is gone',
  ]);
});

/** Returns a history that has ended, with some of its streams or parts replaced. */
function ended({ streams, ...parts }: Partial<EndedHistory> & { streams?: Streams } = {}): EndedHistory {
  const log = new ServerLog();
  for (const [stream, events] of Object.entries({ ...LEGAL, ...streams }))
    log.commit(stream, sealAfter(stream, 'none', null, events));
  const store = new S3Server();
  for (const event of log.events.filter(({ streamId }) => streamId.startsWith(deposits.prefix)))
    for (const sha256 of referencedObjects(deposits.codec.read(recorded(event))))
      store.put(keyOf(sha256), Buffer.alloc(0));
  return {
    plan: { seed: 1, composition: 'cluster', stuckAfter: 86_400_000, faults: [], deposits: [] },
    log,
    logFaults: [],
    pieceFaults: [],
    store,
    received: RECEIVED,
    earlyRetries: [],
    answers: [CREATED, CREATED_OTHER],
    unanswered: [],
    nodes: [],
    absent: [],
    faults: [],
    standings: [],
    archiveKinds: new Map<string, ArchiveKind>([[ARCHIVE, 'good']]),
    unhandled: [],
    failures: [],
    errors: [],
    steps: 100,
    isCutOff: false,
    ...parts,
  };
}

function stored(name: string): readonly NewEvent[] {
  return STORED.find(({ stream }) => stream === name)?.events ?? [];
}

function newEvent(type: string, data: NewEvent['data']): NewEvent {
  const metadata = { schemaVersion: 1, occurredAt: '2026-03-02T10:00:10.000Z' };
  return { id: `${type} ${JSON.stringify(data)}`, type, data, metadata };
}

function failed(code: string, message: string): Answer {
  const outcome: Failure = { kind: 'failure', name: 'Error', code, message };
  return { ...CREATED, outcome };
}

/** Resolves to the faults of an upload that lost a piece, of one whose bytes differ, and of one that is gone. */
async function lostPieces(): Promise<string[]> {
  const bytes = Buffer.from('an archive');
  const upload = {
    id: 'u',
    offset: 2,
    append: async () => undefined,
    bytes: async function* () {
      yield Buffer.alloc(bytes.length);
    },
  };
  const uploads = {
    find: (id: string) => (id === upload.id ? upload : undefined),
    create: async () => upload,
    hold: async () => ({ [Symbol.dispose]: () => undefined }),
  };
  const node = { uploads } as unknown as SimulatedNode;
  const faults: string[] = [];
  const onFault = (text: string): void => void faults.push(text);
  for (const id of ['u', 'v']) {
    await sendPiece(node, 'alice', bytes, 9, { id, offset: 6 }, onFault);
    await uploadedBytes(node, 'alice', bytes, id, onFault);
  }
  return faults;
}
