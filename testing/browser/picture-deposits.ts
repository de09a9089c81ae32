import { randomUUID } from 'node:crypto';
import { deposits } from '../../src/domain/aggregates.ts';
import type { DepositCommand } from '../../src/domain/deposit/commands.ts';
import type { Archive, ArchiveReading } from '../../src/domain/deposit/events.ts';
import type { JsonObject } from '../../src/event-log/event-log.ts';
import { sealAfter } from '../../src/event-log/integrity/hash-chain.ts';
import { tarOf } from '../archives/archive-builders.ts';
import { changeDeposit, createDeposit } from '../domain/example-deposits.ts';
import type { TestClient } from '../http/test-client.ts';
import type { RunningService } from '../service/running-service.ts';
import { depositOf, type MadeDeposit } from './console-deposits.ts';

/** A deposit for a picture. */
type Pictured = MadeDeposit & {
  readonly members?: Readonly<Record<string, string>>;
  /** Origin of all versions, and whether this is the first one. */
  readonly origin?: readonly ['create_origin' | 'add_to_origin', string];
};

const PALETTE = `def mix(a, b):
    """Mix two colours, channel by channel."""
    return tuple((x + y) // 2 for x, y in zip(a, b))
`;
const README = '# Paint\n\nMixes colours the way painters do.\n';
const FIRST = {
  'paint-1.0/README.md': README,
  'paint-1.0/setup.cfg': '[metadata]\nname = paint\nversion = 1.0\n',
  'paint-1.0/src/palette.py': PALETTE,
  'paint-1.0/src/brush.py': 'WIDTH = 3\n',
};
const SECOND = {
  'paint-1.0/README.md': `${README}\nUse \`palette.mix(RED, BLUE)\`.\n`,
  'paint-1.0/setup.cfg': '[metadata]\nname = paint\nversion = 1.1\n',
  'paint-1.0/src/palette.py': PALETTE.replace('x + y', 'x + y + 1').replace(
    '    return',
    '    # rounds up: \u2067black\u2069 stays black\n    return',
  ),
  'paint-1.0/src/canvas.py': 'SIZE = (640, 480)\n',
};
const ORIGIN = 'https://alice.example/software/paint';

/** Makes deposits in every status, and resolves to the id of the one that the pictures of a deposit show. */
export async function makePicturedDeposits(service: RunningService): Promise<number> {
  const alice = await service.register('alice', {
    collections: ['software', 'papers'],
    providerUrl: 'https://alice.example/',
  });
  const carol = await service.register('carol', { collections: ['papers'], domain: 'carol.example' });
  const some = ['Spectral lines', 'Tide tables', 'A compiler for the loom', 'Sundial', 'Gearbox simulation'];
  for (const title of some) await deposited(alice, { title, collection: 'papers', author: 'Ada Byron' });
  await deposited(carol, { title: 'Street lamps of Leiden', collection: 'papers', status: 'rejected' });
  await deposited(carol, { title: 'Chairs', collection: 'papers', status: 'rejected' });
  await deposited(alice, { title: 'Paint', members: FIRST, origin: ['create_origin', ORIGIN] });
  await deposited(alice, { title: 'Weather station firmware', status: 'partial', filename: 'station.tar' });
  await deposited(alice, { title: 'invoice\u202Efdp.exe', collection: 'papers', author: 'Mallory' });
  const shown = await deposited(alice, {
    title: 'Paint',
    members: SECOND,
    origin: ['add_to_origin', ORIGIN],
    filename: 'paint-1.1.tar',
  });
  await appendFailedDeposit(service, shown + 1, shown); // this service reserves no further id
  return shown;
}

function deposited(client: TestClient, { members = FIRST, origin, ...made }: Pictured): Promise<number> {
  const tar = tarOf(Object.entries(members).map(([name, data]) => ({ name, data })));
  const [verb, url] = origin ?? [];
  const more = origin ? `<d:deposit><d:${verb}><d:origin url="${url}"/></d:${verb}></d:deposit>` : '';
  return depositOf(client, { author: 'Alice', filename: 'source.tar', tar, more, ...made });
}

/** Appends a deposit whose load failed, with the archives of another one that is done. */
export async function appendFailedDeposit(
  service: RunningService,
  depositId: number,
  other: number,
): Promise<void> {
  const events = await Array.fromAsync(service.service.log.readStream(`deposit-${other}`));
  const dataOf = (name: string) =>
    events.filter(({ type }) => type === name).map(({ data }) => data as never);
  const [first, ...others] = dataOf('ArchiveAdded').map(({ archive }) => archive as Archive);
  const [{ readings } = { readings: [] }] = dataOf('DepositVerified') as { readings: ArchiveReading[] }[];

  const text = 'The archive cannot be read: its end is missing';
  await appendDeposit(service, depositId, [
    createDeposit({
      depositId,
      uuid: randomUUID(),
      now: new Date().toISOString(),
      archive: first as Archive,
      isFinal: others.length === 0,
    }),
    ...others.map((archive, index) =>
      changeDeposit(
        { kind: 'add-content', archive, entry: null },
        { depositId, isFinal: index === others.length - 1 },
      ),
    ),
    { type: 'RecordVerified', depositId, attempt: 1, readings, warnings: [] },
    { type: 'StartLoading', depositId, attempt: 1 },
    {
      type: 'RecordLoadingFailed',
      depositId,
      attempt: 1,
      reason: { code: 'MALFORMED_ARCHIVE', text, fields: ['archive'] },
    },
  ]);
}

/** Appends the events of a deposit, which happened at one time. */
export async function appendDeposit(
  { service: { log } }: RunningService,
  depositId: number,
  commands: readonly DepositCommand[],
  occurredAt = new Date().toISOString(),
): Promise<void> {
  const { decider, codec, prefix } = deposits;
  const stream = `${prefix}${depositId}`;
  const metadata = {
    occurredAt,
    actor: { kind: 'service', name: 'example' },
    $correlationId: randomUUID(),
  };
  let state = decider.initial;
  const appended = commands.flatMap((command) => {
    const decided = decider.decide(command, state);
    state = decided.reduce(decider.evolve, state);
    return decided.map(({ type, data }) => ({
      id: randomUUID(),
      type,
      data: data as unknown as JsonObject,
      metadata: { schemaVersion: codec.versionOf(type), ...metadata },
    }));
  });
  await log.append(stream, 'none', sealAfter(stream, 'none', null, appended));
}
