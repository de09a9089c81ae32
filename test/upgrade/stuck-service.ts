import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { RECEIVERS } from '../../src/reactors/reactor-names.ts';
import { EventStoreDbDouble } from '../../testing/eventstoredb-double/eventstoredb-double.ts';
import { distributedEngines } from '../../testing/service/engines-under-test.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { Fixture, frozenSettings } from './fixture.ts';
import { unpackInto } from './fixture-archive.ts';
import { FrozenReceivers } from './frozen-receivers.ts';
import { s3With } from './load-engines.ts';
import type { StuckExpected } from './stuck-expected.ts';

/** After this time without a change, in milliseconds, work that no delivery announces is begun. */
const STUCK_AFTER_MS = 1000;

export type StuckService = AsyncDisposable & {
  readonly expected: StuckExpected;
  /** Checkpoints of the groups of the older release, as frozen. */
  readonly checkpoints: readonly bigint[];
  /** Position of the last event of each deposit, by its id, as frozen. */
  readonly positions: ReadonlyMap<number, bigint>;
  readonly receivers: FrozenReceivers;
  /** The node that serves clients. */
  readonly service: RunningService;
};

/** Starts two nodes of the current release on the log, the bucket and the data folders of the fixture `stuck`. */
export async function startStuckService(): Promise<StuckService> {
  const fixture = new Fixture('a4b3938', 'stuck');
  const expected = JSON.parse(fixture.read('expected.json').toString()) as StuckExpected;
  await using resources = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'upgrade-'));
  resources.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const [nodes, bucket, dump] = ['nodes', 'bucket', 'log.ndjson'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  await unpackInto(nodes, fixture.read('nodes.tar.gz'));
  await unpackInto(bucket, fixture.read('bucket.tar.gz'));
  await writeFile(dump, gunzipSync(fixture.read('log.ndjson.gz')));
  // The dump holds the groups and their checkpoints as well.
  const double = resources.use(await EventStoreDbDouble.start({ load: dump }));
  const checkpoints = RECEIVERS.map((name) => double.groups.get(name)?.checkpoint ?? 0n);
  const positions = new Map(
    expected.deposits.map(({ depositId }) => [depositId, lastPosition(double, depositId)] as const),
  );
  const s3 = resources.use(await s3With('deposits', bucket));
  const receivers = resources.use(await FrozenReceivers.start(expected));
  const settings = {
    ...frozenSettings(expected, path.join(nodes, 'keys', 'webhook-aes256.key')),
    ...distributedEngines(double, s3),
    stuckAfter: STUCK_AFTER_MS,
  };
  const start = async (name: 'http' | 'reactors'): Promise<RunningService> =>
    resources.use(await RunningService.startIn(path.join(nodes, name), { ...settings, roles: [name] }));
  const service = await start('http');
  await start('reactors');
  const running = resources.move();
  const found = { expected, checkpoints, positions, receivers, service };
  return { ...found, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function lastPosition({ log }: EventStoreDbDouble, depositId: number): bigint {
  return log.stream(`deposit-${depositId}`).at(-1)?.position ?? 0n;
}
