import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { packedFolder } from '../fixture-archive.ts';
import { type DumpedGroup, packedEvents } from '../log-dump.ts';
import { DistributedClaims } from './claims.ts';
import type { OldDouble, OldRelease, OldS3Server } from './old-release.ts';
import { NOTIFIED } from './people.ts';
import { Receivers } from './receivers.ts';
import { recordExpected } from './record-expected.ts';
import { play } from './scenario.ts';
import { Site } from './site.ts';
import { writeAnchors } from './write-anchors.ts';

/** Third number of the addresses of receivers. */
const NETWORK = 20;
const BUCKET = 'deposits';

/** The groups of the release, and the filter that each has. */
const GROUPS = {
  checker: 'deposit-',
  'checker-retries': 'parked-checker',
  loader: 'deposit-',
  'loader-retries': 'parked-loader',
  notifier: 'deposit-',
  'notifier-retries': 'parked-notifier',
} as const;

/** Freezes a log of EventStoreDB, a bucket and the folders of two nodes into the folder `to`. */
export async function freezeDistributed(release: OldRelease, scratch: string, to: string): Promise<void> {
  const folder = path.join(scratch, 'distributed');
  for (const name of ['http', 'reactors', 'keys']) {
    await mkdir(path.join(folder, name), { recursive: true, mode: 0o700 });
  }
  await mkdir(to, { recursive: true });
  const { EventStoreDbDouble } = await release.import(
    'test/support/eventstoredb-double/eventstoredb-double.ts',
  );
  const { S3Server } = await release.import('test/support/s3-server.ts');
  await using double = await EventStoreDbDouble.start();
  await using s3 = await S3Server.start();
  await using site = new Site(release, { folder, engines: enginesOf(double, s3) });
  await using receivers = await Receivers.start(NETWORK, NOTIFIED);
  const played = await play(site, receivers, new DistributedClaims(site, double));
  await writeFile(path.join(to, 'log.ndjson.gz'), packedEvents(double.log.all));
  await writeFile(path.join(to, 'groups.json'), `${JSON.stringify(groupsOf(double), null, 1)}\n`);
  await writeFile(path.join(to, 'bucket.tar.gz'), await bucketOf(s3, path.join(scratch, 'bucket')));
  await writeFile(path.join(to, 'nodes.tar.gz'), await packedFolder(folder));
  await writeAnchors(site, to);
  const expected = await recordExpected(site, receivers, played);
  await writeFile(path.join(to, 'expected.json'), `${JSON.stringify(expected, null, 1)}\n`);
}

export function enginesOf(
  { connectionString }: { readonly connectionString: string },
  { port, options }: OldS3Server,
) {
  return {
    DEPOSIT_EVENT_LOG: connectionString,
    DEPOSIT_ARCHIVE_STORE: `s3://127.0.0.1:${port}/${BUCKET}?tls=false`,
    DEPOSIT_S3_ACCESS_KEY: options.accessKey,
    DEPOSIT_S3_SECRET_KEY: options.secretKey,
  };
}

/** @throws if a group is missing or has another filter */
function groupsOf({ groups }: OldDouble): readonly DumpedGroup[] {
  const text = (position: bigint | undefined) => (position === undefined ? null : String(position));
  return Object.entries(GROUPS).map(([name, streamPrefix]) => {
    const group = groups.get(name);
    if (!group) throw new Error(`There is no group ${name}.`);
    const { accepts, after, messageTimeout, maxRetryCount, isPinned } = group.settings;
    if (!accepts(streamPrefix) || accepts(streamPrefix.slice(0, -1)))
      throw new Error(`${name} has another filter than ${streamPrefix}.`);
    return {
      name,
      streamPrefix,
      startedAfter: text(after),
      messageTimeout,
      maxRetryCount,
      strategy: isPinned ? 'Pinned' : 'RoundRobin',
      checkpoint: text(group.checkpoint),
      lastKnown: text(group.lastKnown),
      unacknowledged: group.unacknowledged,
      parked: group.parked.length,
    };
  });
}

/** Packs the objects of the bucket as files, each at its key. */
export async function bucketOf(s3: OldS3Server, folder: string): Promise<Buffer> {
  const objects = s3.buckets.get(BUCKET)?.objects ?? new Map<string, never>();
  for (const [key, { body }] of objects) {
    await mkdir(path.join(folder, path.dirname(key)), { recursive: true });
    await cp(body.file, path.join(folder, key));
  }
  return packedFolder(folder);
}
