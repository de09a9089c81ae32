import { createHash, randomBytes } from 'node:crypto';
import test from 'ava';
import { parkedEvents } from '../../src/reactors/parking.ts';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { archivePart, entryPart, final, formOf, formType } from '../../testing/http/deposit-bodies.ts';
import { depositIdOf } from '../../testing/http/made-deposits.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';
import type { RunningService } from '../../testing/service/running-service.ts';

const UNREADABLE =
  'The service cannot read its copy of the archive at the moment; nothing is needed from you.';

/** Pauses of milliseconds instead of minutes. */
const SOON = { reactionPause: 1, stuckAfter: 200 } as const;

/** Deposits a new archive; resolves to its status IRI and the key of its object. */
async function deposited(client: TestClient, node: RunningService) {
  const archive = tarOf([{ name: 'paint/noise.bin', data: randomBytes(10_000) }]);
  const parts = [archivePart(archive, 'paint.tar', 'application/x-tar'), entryPart()];
  const body = formOf(parts);
  const answer = await client.at(node.url).post('/1/software/', body, { ...formType, ...final });
  const id = depositIdOf(answer);
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const key = `v1/sha256/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`;
  return { id, iri: `/1/software/${id}/status/`, sha256, key };
}

test('missing or corrupt objects reject nothing on any node, and deposits continue when the objects return', async (t) => {
  await using nodes = await DistributedNodes.start();
  const http = await nodes.add(['http']);
  const alice = await nodes.register(http);
  const bucket = nodes.s3.buckets.get('deposits') ?? nodes.s3.makeBucket('unused');
  const [lost, damaged] = [await deposited(alice, http), await deposited(alice, http)];
  const whole = [lost, damaged].map(({ key }) => [key, bucket.get(key)] as const);
  bucket.objects.delete(lost.key);
  await nodes.s3.damage(bucket, damaged.key, (bytes) => bytes.fill(1, 0, 1));

  await Promise.all([nodes.add(['reactors'], SOON), nodes.add(['reactors'], SOON)]);
  const { log } = http.service;
  const parked = async () => (await parkedEvents(log, 'checker')).map(({ object }) => String(object)).sort();
  await until(async () => (await parked()).length === 2);
  t.deepEqual(await parked(), [lost.sha256, damaged.sha256].sort());
  for (const { id, iri } of [lost, damaged]) {
    await until(async () => (await (await alice.get(iri)).text()).includes(UNREADABLE));
    t.regex(await (await alice.get(iri)).text(), /<deposit_status>deposited</);
    const types = await Array.fromAsync(log.readStream(`deposit-${id}`), ({ type }) => type);
    t.deepEqual(types.slice(-2), ['DepositCompleted', 'CopyUnreadable'], 'once for both nodes');
  }
  await until(async () => (await (await fetch(`${http.url}/health/ready`)).text()).includes('"parked":2'));

  const other = await deposited(alice, http);
  await alice.waitFor(other.iri, 'done');
  for (const [key, object] of whole) bucket.objects.set(key, object);
  for (const { iri } of [lost, damaged]) await alice.waitFor(iri, 'done');
  await until(async () => (await parked()).length === 0);
});

test('eight objects with a flipped bit are parked as probably corrupt, without delaying other clients', async (t) => {
  await using nodes = await DistributedNodes.start();
  const node = await nodes.add(['http']);
  const alice = await nodes.register(node);
  const bob = await node.register('bob', { collections: ['software'] });
  const bucket = nodes.s3.buckets.get('deposits') ?? nodes.s3.makeBucket('unused');
  const damaged = await Promise.all(Array.from({ length: 8 }, () => deposited(alice, node)));
  for (const { key } of damaged) bucket.flipped.add(key);
  const other = await deposited(bob, node);

  await nodes.add(['reactors'], SOON);
  await bob.waitFor(other.iri, 'done');
  const parked = async () => parkedEvents(node.service.log, 'checker');
  await until(async () => (await parked()).length === 8);
  for (const { object, reason } of await parked()) {
    t.regex(reason, new RegExp(`cannot read the object ${object}, which is probably corrupt`));
  }
  for (const { iri } of damaged) {
    await until(async () => (await (await alice.get(iri)).text()).includes(UNREADABLE));
  }
});
