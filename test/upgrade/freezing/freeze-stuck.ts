import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { EventStoreDbDouble } from '../../../testing/eventstoredb-double/eventstoredb-double.ts';
import { writeDump } from '../../../testing/eventstoredb-double/storage/log-dump.ts';
import { entryXml, helloZip, partial } from '../../../testing/http/deposit-bodies.ts';
import type { FrozenDeposit } from '../expected.ts';
import { packedFolder } from '../fixture-archive.ts';
import type { StuckExpected } from '../stuck-expected.ts';
import { Depositor, entryOf, PASSWORD } from './depositor.ts';
import { bucketOf, enginesOf } from './freeze-distributed.ts';
import type { OldRelease } from './old-release.ts';
import { acceptedBy, Receivers } from './receivers.ts';
import { BASE_URL, Site } from './site.ts';

/** Third number of the addresses of receivers. */
const NETWORK = 21;
/** The server writes checkpoints of groups every two seconds. */
const CHECKPOINTED_MS = 4000;
/** In this time the old release would have finished what it still delivers. */
const FINISHED_MS = 8000;
/** From an event to its push: time to kill the node that it would go to. */
const PUSH_DELAY_MS = 300;

/**
 * Freezes a log in which deposits are stuck and notifications missing into the folder `to`. The old release did all of
 * it, on the double of this tree, which loads groups with filters as real servers do.
 */
export async function freezeStuck(release: OldRelease, scratch: string, to: string): Promise<void> {
  const folder = await mkdtemp(path.join(scratch, 'stuck-'));
  for (const name of ['http', 'reactors', 'keys'])
    await mkdir(path.join(folder, name), { recursive: true, mode: 0o700 });
  await mkdir(to, { recursive: true });
  const { S3Server } = await release.import('test/support/s3-server.ts');
  await using double = await EventStoreDbDouble.start({ pushDelayMs: PUSH_DELAY_MS });
  await using s3 = await S3Server.start();
  await using site = new Site(release, { folder, engines: enginesOf(double, s3) });
  await using receivers = await Receivers.start(NETWORK, ['bob']);
  const deposits: FrozenDeposit[] = [];
  const [alice, bob] = ['alice', 'bob'].map((name) => new Depositor(site, name, deposits)) as [
    Depositor,
    Depositor,
  ];
  await registerTwo(site, receivers);
  await leaveVerified(site, double, bob);
  await leaveDeposited(site, double, [alice, bob]);
  await site.start('everything');
  await bob.reached(await bob.whole('after', helloZip), 'done');
  await pause(FINISHED_MS);
  const frozen = await statusesOf(deposits, { alice, bob });
  await site.kill();
  await pause(CHECKPOINTED_MS);
  const dump = path.join(scratch, 'stuck.ndjson');
  await writeDump(double.log, dump);
  await writeFile(path.join(to, 'log.ndjson.gz'), gzipSync(await readFile(dump), { level: 9 }));
  await writeFile(path.join(to, 'bucket.tar.gz'), await bucketOf(s3, path.join(scratch, 'stuck-bucket')));
  await writeFile(path.join(to, 'nodes.tar.gz'), await packedFolder(folder));
  const expected: StuckExpected = {
    commit: release.commit,
    frozenAt: new Date().toISOString(),
    baseUrl: BASE_URL,
    password: PASSWORD,
    webhookSecret: receivers.of('bob').secret,
    deposits: deposits.map((deposit) => ({
      ...deposit,
      frozen: frozen.get(deposit.depositId) ?? 'unknown',
      finished: FINISHED.get(deposit.label) ?? 'done',
    })),
    receivers: [
      {
        client: 'bob',
        ...receivers.placeOf('bob'),
        accepted: acceptedBy(receivers.of('bob')),
        deliveredLater: [],
      },
    ],
  };
  await writeFile(path.join(to, 'expected.json'), `${JSON.stringify(expected, null, 1)}\n`);
}

/** Deposits whose end is not `done`. */
const FINISHED: ReadonlyMap<string, string> = new Map([
  ['rejected', 'rejected'],
  ['partial', 'partial'],
]);

async function registerTwo(site: Site, receivers: Receivers): Promise<void> {
  for (const name of ['alice', 'bob'])
    await site.run('client', ['add', name, '--password-stdin', '--collection', 'software'], {
      input: PASSWORD,
    });
  const { url, secret } = receivers.of('bob');
  await site.run('client', ['webhook', 'bob', url, '--secret-stdin'], { input: secret });
}

/** The nodes are killed at the verdict of the checker, before the loader gets it, and the log restarts. */
async function leaveVerified(site: Site, double: EventStoreDbDouble, bob: Depositor): Promise<void> {
  await site.start('everything');
  await bob.reached(await bob.whole('before', helloZip), 'done');
  const id = await bob.whole('verified', helloZip);
  await killedAt(site, double, `deposit-${id}`, 'DepositVerified');
  await site.start('http only');
  await bob.whole('behind-verified', helloZip);
  await pause(CHECKPOINTED_MS);
  await double.restart();
  await site.stop();
}

/** Resolves when every node has been killed, which begins in the moment in which the event is appended. */
async function killedAt(
  site: Site,
  { log }: EventStoreDbDouble,
  stream: string,
  type: string,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (): void => {
    if (log.stream(stream).at(-1)?.type === type) resolve(site.kill());
  };
  const stopLooking = log.onAppended(look);
  look();
  await promise;
  stopLooking();
}

/** Deposits are accepted while no reactor node is connected, and the log restarts before one is. */
async function leaveDeposited(
  site: Site,
  double: EventStoreDbDouble,
  [alice, bob]: readonly [Depositor, Depositor],
): Promise<void> {
  await site.start('http only');
  for (const number of [1, 2, 3]) await bob.whole(`deposited-${number}`, helloZip);
  await alice.whole('without-webhook', helloZip);
  await bob.whole('rejected', helloZip, entryXml('<title>Without an author</title>'));
  await bob.ofEntry('partial', entryOf('Partial'), partial);
  await bob.whole('last', helloZip);
  await pause(CHECKPOINTED_MS);
  await double.restart();
  await site.stop();
}

async function statusesOf(
  deposits: readonly FrozenDeposit[],
  clients: Readonly<Record<string, Depositor>>,
): Promise<ReadonlyMap<number, string>> {
  const statuses = deposits.map(async ({ depositId, client }) => {
    const status = await clients[client]?.status(depositId);
    return [depositId, status?.deposit_status ?? 'unknown'] as const;
  });
  return new Map(await Promise.all(statuses));
}
