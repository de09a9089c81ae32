import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { type Aggregate, clients, collections, deposits } from '../src/domain/aggregates.ts';
import type { DepositCommand } from '../src/domain/deposit/commands.ts';
import type { ExpectedRevision, JsonObject, NewEvent } from '../src/event-log/event-log.ts';
import { sealAfter } from '../src/event-log/integrity/hash-chain.ts';
import { SqliteEventLog } from '../src/event-log/sqlite/sqlite-event-log.ts';
import { FilesystemObjectStore } from '../src/object-store/filesystem/filesystem-object-store.ts';
import { readOptions } from '../src/operations/command/arguments.ts';
import { runCommand } from '../src/operations/command/command.ts';
import { appendBinding } from '../src/service/backends/store-binding.ts';
import { credentialOf } from '../src/tools/cryptography/password.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';
import {
  type DepositTraits,
  uniformTraits,
  variedCollections,
  variedTraits,
} from './inputs/deposit-traits.ts';

const HELP = `Makes an embedded event log with many deposits, as the service would have written them, to measure with.

  node bench/generate-log.ts --deposits N --data-dir FOLDER [--varied]

Each deposit has seven events, a hash chain and identifiers of its own; the objects that they name do not exist.
All are done, and of the client bench, with the password secret, in the collection software.

--varied: of many clients, in several collections; some are rejected, failed or partial
`;

/** Concurrent appends; they are committed in the order in which they were made. */
const UNDER_WAY = 500;
const START = Date.UTC(2026, 0, 1);
/** The last reservation of ids. */
let [idsRevision, idsHash]: [ExpectedRevision, string | null] = ['none', null];

await runCommand(HELP, async (args) => {
  const values = readOptions(args, {
    deposits: { type: 'string' },
    'data-dir': { type: 'string' },
    varied: { type: 'boolean', default: false },
  });
  const traitsOf = values.varied ? variedTraits : uniformTraits;
  const [count, folder] = [Number(values.deposits), path.resolve(values['data-dir'] ?? 'data')];
  mkdirSync(folder, { recursive: true });
  await using log = await SqliteEventLog.open({ file: path.join(folder, 'event-log.sqlite') });
  if ((await log.head()) !== undefined)
    throw Object.assign(new Error(`${folder} holds a log already.`), { code: 'NOT_EMPTY' });
  await bindStore(log, folder);
  using bars = new ProgressBars();
  const collectionNames = values.varied ? variedCollections() : ['software'];
  await appendTo(log, clientEvents(await credentialOf('secret'), collectionNames));
  for (let first = 1; first <= count; first += UNDER_WAY) {
    const ids = Array.from({ length: Math.min(UNDER_WAY, count - first + 1) }, (_, index) => first + index);
    await Promise.all([
      reservation(log, first, ids.length),
      ...ids.map((id) => appendTo(log, depositAppends(id, traitsOf(id)))),
    ]);
    bars.at('deposits', first, count);
  }
  process.stdout.write(`${count} deposits in ${folder}\n`);
});

/** Gives the log the empty store of its folder, as an operator does whose objects are lost. */
async function bindStore(log: SqliteEventLog, folder: string): Promise<void> {
  const id = randomUUID();
  await appendBinding(log, id, undefined);
  await using store = await FilesystemObjectStore.open({ folder: path.join(folder, 'archives') });
  await store.setId(id);
}

type Append = {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
};

async function appendTo(log: SqliteEventLog, appends: readonly Append[]): Promise<void> {
  await Promise.all(appends.map(({ stream, expected, events }) => log.append(stream, expected, events)));
}

async function reservation(log: SqliteEventLog, first: number, count: number): Promise<void> {
  const metadata = { schemaVersion: 1, occurredAt: new Date(START).toISOString() };
  const event = { id: randomUUID(), type: 'DepositIdsReserved', data: { first, count }, metadata };
  const sealed = sealAfter('ids-deposit', idsRevision, idsHash, [event]);
  ({ revision: idsRevision } = await log.append('ids-deposit', idsRevision, sealed));
  idsHash = sealed[0]?.metadata['hash'] as string;
}

function clientEvents(
  credential: Awaited<ReturnType<typeof credentialOf>>,
  names: readonly string[],
): Append[] {
  return [
    ...names.flatMap((collection) =>
      streamOf(collections, collection, [{ type: 'OpenCollection', collection }], START),
    ),
    ...streamOf(
      clients,
      'bench',
      [
        { type: 'RegisterClient', client: 'bench', credential },
        ...names.map((collection) => ({ type: 'GrantCollection', client: 'bench', collection }) as const),
      ],
      START,
    ),
  ];
}

function depositAppends(depositId: number, traits: DepositTraits): Append[] {
  const { client, collection, title, authors, outcome, reason } = traits;
  const time = START + depositId * 1000;
  const now = new Date(time).toISOString();
  const [sha256, entry, listing, manifest] = ['archive', 'entry', 'listing', 'manifest'].map((what) =>
    digest('sha256', what, depositId),
  ) as [string, string, string, string];
  const [directory, revision, snapshot] = ['dir', 'rev', 'snp'].map((what) =>
    digest('sha1', what, depositId),
  ) as [string, string, string];
  const origin = `https://bench.example/software/${depositId}`;
  const created: DepositCommand[] = [
    {
      type: 'CreateDeposit',
      depositId,
      uuid: randomUUID(),
      client,
      collection,
      slug: `${depositId}`,
      fallbackOrigin: origin,
      archive: {
        sha256,
        length: 20_000 + depositId,
        md5: null,
        filename: `software-${depositId}.tar.gz`,
        mediaType: 'application/x-tar',
      },
      entry: {
        sha256: entry,
        length: 900,
        encoding: 'utf-8',
        facts: {
          title,
          hasTitle: true,
          hasAuthor: true,
          authors,
          urlHosts: ['bench.example'],
          urlHostsTruncated: false,
          origin: null,
          externalIdentifier: `software-${depositId}`,
          version: '1.0',
          dateCreated: null,
          datePublished: '2026-03-01',
        },
      },
      isFinal: outcome !== 'partial',
      now,
      providerUrl: 'https://bench.example/',
    },
  ];
  const attempt = 1;
  const verified: DepositCommand[] = [
    {
      type: 'RecordVerified',
      depositId,
      attempt,
      readings: [{ archive: sha256, format: 'tar.gz', files: 12, bytes: 80_000, listing }],
      warnings: [],
    },
    { type: 'StartLoading', depositId, attempt },
  ];
  const loaded: DepositCommand = {
    type: 'RecordLoaded',
    loaded: {
      depositId,
      attempt,
      policy: 'swh-1',
      directory,
      revision,
      snapshot,
      origin,
      identity: 'Deposit Service <deposit@localhost>',
      authorDate: { seconds: time / 1000, offset: '+0000' },
      committerDate: { seconds: time / 1000, offset: '+0000' },
      archives: [sha256],
      files: 12,
      bytes: 80_000,
      manifest,
    },
  };
  const reasons = [{ code: reason, text: 'Measured.', fields: [] }];
  const ends: Readonly<Record<DepositTraits['outcome'], readonly DepositCommand[]>> = {
    done: [...verified, loaded],
    failed: [
      ...verified,
      {
        type: 'RecordLoadingFailed',
        depositId,
        attempt,
        reason: { code: 'LOADING_FAILED', text: 'Measured.', fields: [] },
      },
    ],
    rejected: [{ type: 'RecordRejected', depositId, attempt, reasons, warnings: [] }],
    partial: [],
  };
  return streamOf(deposits, depositId, [...created, ...ends[outcome]], time, client);
}

function streamOf<State, Command, Event extends { type: string; data: object }>(
  { prefix, decider, codec }: Aggregate<State, Command, Event>,
  id: string | number,
  commands: readonly Command[],
  time: number,
  client = 'bench',
): Append[] {
  const stream = `${prefix}${id}`;
  let [state, hash, expected]: [State, string | null, ExpectedRevision] = [decider.initial, null, 'none'];
  return commands.map((command) => {
    const metadata = {
      occurredAt: new Date(time).toISOString(),
      actor: { kind: 'client', name: client },
      $correlationId: randomUUID(),
    };
    const events = decider.decide(command, state);
    const unsealed = events.map(({ type, data }) => {
      return {
        id: randomUUID(),
        type,
        data: data as JsonObject,
        metadata: { schemaVersion: codec.versionOf(type), ...metadata },
      };
    });
    const append: Append = { stream, expected, events: sealAfter(stream, expected, hash, unsealed) };
    state = events.reduce(decider.evolve, state);
    hash = append.events.at(-1)?.metadata['hash'] as string;
    expected = (expected === 'none' ? -1 : expected) + events.length;
    return append;
  });
}

function digest(algorithm: 'sha1' | 'sha256', what: string, depositId: number): string {
  return createHash(algorithm).update(`${what} ${depositId}`).digest('hex');
}
