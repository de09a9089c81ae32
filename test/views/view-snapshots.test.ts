import test from 'ava';
import { lastEvent, type RecordedEvent } from '../../src/event-log/event-log.ts';
import { redactedEvent } from '../../src/operations/verify/redacted-event.ts';
import { CLOCK_OF_NODE } from '../../src/tools/clock.ts';
import { nameOf, snapshotObjects } from '../../src/views/snapshots/snapshot-records.ts';
import { copiesIn, deposit, differences, nodeOf, record, s3Store, siteOf, stored } from './snapshot-nodes.ts';

for (const kind of ['files', 's3'] as const) {
  test(`a new node starts with the snapshot of another one and continues from there (${kind})`, async (t) => {
    const site = await siteOf(t, kind === 's3' ? await s3Store(t) : undefined);
    const first = await nodeOf(t, site);
    t.is(first.projector.begunFrom, 'log');
    await first.look();
    await deposit(site.log, 4);
    const second = await nodeOf(t, site);
    t.is(second.projector.begunFrom, 'snapshot', JSON.stringify(second.lines));
    await first.projector.passed((await site.log.head()) as string, 10_000);
    t.is(second.applied(), 4, 'only the events after the snapshot are read');
    t.deepEqual(differences(first, second), []);
    t.deepEqual(copiesIn(second.folder), []);
  });
}

test('a snapshot that is stored while the views change is that of one moment', async (t) => {
  const site = await siteOf(t);
  const first = await nodeOf(t, site);
  const storing = first.look();
  for (let id = 4; first.newest() === undefined || id < 30; id += 1) await deposit(site.log, id);
  await storing;
  const second = await nodeOf(t, site);
  t.is(second.projector.begunFrom, 'snapshot', JSON.stringify(second.lines));
  await first.projector.passed((await site.log.head()) as string, 10_000);
  t.deepEqual(differences(first, second), []);
});

test('a snapshot is stored once a day, and the two newest are retained', async (t) => {
  const site = await siteOf(t);
  let now = Date.now();
  const world = { clock: { ...CLOCK_OF_NODE, now: () => now, date: () => new Date(now) } };
  const node = await nodeOf(t, site, { world });
  const { look } = node;
  await look();
  await look();
  t.is((await stored(site)).length, 1);
  t.is(node.newest(), new Date(now).toISOString());
  now += 86_400_000 - 1;
  await look();
  t.is((await stored(site)).length, 1);
  for (const ids of [[5], [6]]) {
    now += 86_400_000;
    for (const id of ids) await deposit(site.log, id);
    await look();
  }
  t.is((await snapshotObjects(site.log)).size, 3);
  t.is((await stored(site)).length, 2, 'the replaced one is removed');
});

test('neither the object nor a log export without secrets reveals the contents of the views', async (t) => {
  const site = await siteOf(t);
  const node = await nodeOf(t, site);
  await node.look();
  const [sha256 = ''] = await snapshotObjects(site.log);
  const bytes = Buffer.concat(await (await site.store.get(sha256)).body.toArray());
  t.false(bytes.includes('SQLite') || bytes.includes('alice'));
  t.not(bytes.readUInt32LE(0), 0xfd2fb528, 'the magic number of zstd');
  const { secret } = redactedEvent((await lastEvent(site.log, 'view-snapshots')) as RecordedEvent).data;
  t.is(secret, null);
});

test('an older snapshot is used if the newest is corrupt', async (t) => {
  const site = await siteOf(t);
  const honest = await nodeOf(t, site);
  await record(t, site, honest.folder, {});
  const newest = await record(t, site, honest.folder, {});
  await site.store.remove(nameOf(newest));
  const node = await nodeOf(t, site);
  t.is(node.projector.begunFrom, 'snapshot');
  t.regex(JSON.stringify(node.lines), new RegExp(`refused.*${nameOf(newest)}`));
});
