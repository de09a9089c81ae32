import { createHash, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  EventStoreDBClient,
  PINNED,
  persistentSubscriptionToAllSettingsFromDefaults,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import { EventStoreDbDouble } from '../../testing/eventstoredb-double/eventstoredb-double.ts';
import { S3Server } from '../../testing/s3/s3-server.ts';
import type { DumpedEvent, DumpedGroup } from './log-dump.ts';

/** Starts a double with a dumped log: every event is where it was, and every group begins behind its checkpoint. */
export async function doubleWith(
  events: readonly DumpedEvent[],
  groups: readonly DumpedGroup[],
): Promise<EventStoreDbDouble> {
  const double = await EventStoreDbDouble.start();
  // The events of the server itself are about its groups, which are made again below.
  for (const event of events) if (!event.stream.startsWith('$')) double.log.storage.load(event);
  for (const { name, checkpoint } of groups) {
    if (checkpoint === null) continue;
    const stream = `$persistentsubscription-$all::${name}-checkpoint`;
    double.log.append(stream, 'any', [checkpointEvent(checkpoint)]);
  }
  const client = EventStoreDBClient.connectionString(double.connectionString);
  for (const group of groups) await makeGroup(client, group);
  await client.dispose();
  return double;
}

/** Starts an S3 server with a bucket whose objects are the files in the folder, each at its key. */
export async function s3With(bucketName: string, folder: string): Promise<S3Server> {
  const s3 = await S3Server.start();
  const bucket = s3.makeBucket(bucketName);
  for (const key of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(folder, key);
    const { size: length } = await stat(file);
    if ((await stat(file)).isDirectory()) continue;
    const md5 = createHash('md5')
      .update(await readFile(file))
      .digest('hex');
    bucket.put(key, { file, length, md5 });
  }
  return s3;
}

async function makeGroup(client: EventStoreDBClient, group: DumpedGroup): Promise<void> {
  const { name, streamPrefix, messageTimeout, maxRetryCount, checkpoint, startedAfter } = group;
  const position = checkpoint ?? startedAfter;
  const startFrom = position === null ? START : { commit: BigInt(position), prepare: BigInt(position) };
  const settings = persistentSubscriptionToAllSettingsFromDefaults({
    startFrom,
    messageTimeout,
    maxRetryCount,
    checkPointLowerBound: 1,
    consumerStrategyName: PINNED,
  });
  const filter = streamNameFilter({ prefixes: [streamPrefix] });
  await client.createPersistentSubscriptionToAll(name, settings, { filter });
}

/** Returns a checkpoint of a group as real servers write it. */
function checkpointEvent(position: string) {
  const [data, metadata] = [JSON.stringify(`C:${position}/P:${position}`), '{}'].map((text) =>
    Buffer.from(text),
  ) as [Buffer, Buffer];
  const id = randomUUID();
  return { id, type: '$SubscriptionCheckpoint', contentType: 'application/json', data, metadata };
}
