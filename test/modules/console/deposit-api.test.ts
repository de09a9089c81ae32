import { hash, randomUUID } from 'node:crypto';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ArchiveReading } from '../../../src/domain/deposit/events.ts';
import type { NewEvent } from '../../../src/event-log/event-log.ts';
import { coveredEvent } from '../../../src/modules/anchors/merkle-leaf.ts';
import { zipOf } from '../../../testing/archives/archive-builders.ts';
import { ConsoleSession } from '../../../testing/browser/sign-in.ts';
import {
  archivePart,
  entryPart,
  final,
  formOf,
  formType,
  helloTar,
} from '../../../testing/http/deposit-bodies.ts';
import { depositIdOf, pathOf } from '../../../testing/http/made-deposits.ts';
import type { TestClient } from '../../../testing/http/test-client.ts';
import { testOfService } from '../../../testing/service/test-of-service.ts';

const test = testOfService({ alice: { collections: ['software'] }, bob: { collections: ['software'] } });

type Page = {
  readonly events: readonly { readonly type: string; readonly revision: number }[];
  readonly next: number | null;
};
type Summary = {
  readonly row: { readonly directory: string; readonly revisionId: string };
  readonly context: string;
};

test('events are returned as in the log, except streams of clients and people', async (t) => {
  const { service, alice } = t.context;
  const id = await loaded(alice);
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const answer = await auditor.get(`/console/api/streams/deposit-${id}/events`);
  const page = (await answer.json()) as Page;
  t.deepEqual(page.events as unknown, await Array.fromAsync(service.service.log.readStream(`deposit-${id}`)));
  t.is(page.next, null);
  const later = (await (
    await auditor.get(`/console/api/streams/deposit-${id}/events?from=2`)
  ).json()) as Page;
  t.deepEqual(later.events, page.events.slice(2));
  for (const stream of [
    'client-alice',
    'person-auditor',
    'parked-loader',
    'deposit-999',
    'deposit-01',
    'nothing',
  ]) {
    const refused = await auditor.get(`/console/api/streams/${stream}/events`);
    t.is(refused.status, 404, stream);
    t.notRegex(await refused.text(), /scrypt|credential/);
  }
  t.is((await auditor.get(`/console/api/streams/deposit-${id}/events?from=-1`)).status, 400);
});

test('a stream of more than one page is read to its end', async (t) => {
  const { service } = t.context;
  await service.service.log.append('collection-long', 'none', policyChanges('long', 201));
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const read = async (from: number) =>
    (await (await auditor.get(`/console/api/streams/collection-long/events?from=${from}`)).json()) as Page;
  const [first, second] = [await read(0), await read(200)];
  t.deepEqual([first.events.length, first.next, second.events.length, second.next], [200, 200, 1, null]);
});

test('a stream from which an event was removed is read to its end, each event once', async (t) => {
  const { service } = t.context;
  await service.service.log.append('collection-cut', 'none', policyChanges('cut', 202));
  using database = new DatabaseSync(path.join(service.folder, 'event-log.sqlite'));
  database.exec(
    `DELETE FROM events WHERE stream = (SELECT id FROM streams WHERE name = 'collection-cut') AND revision = 1`,
  );
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const found: number[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const answer = await auditor.get(`/console/api/streams/collection-cut/events?from=${from}`);
    const page = (await answer.json()) as Page;
    found.push(...page.events.map(({ revision }) => revision));
    from = page.next;
  }
  t.deepEqual(found, [0, ...Array.from({ length: 200 }, (_, index) => index + 2)]);
});

function policyChanges(collection: string, count: number): NewEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    id: randomUUID(),
    type: 'PolicyChanged',
    data: { collection, policy: String(index) },
    metadata: { schemaVersion: 1, occurredAt: '2026-01-01T00:00:00.000Z' },
  }));
}

test('the leaf hashes are those of the whole log, in its order', async (t) => {
  const { service } = t.context;
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const events = await Array.fromAsync(service.service.log.readAll());
  const answer = await auditor.get('/console/api/leaves');
  const { leaves } = (await answer.json()) as { leaves: readonly string[]; next: string | null };
  const expected = events.map((event) => hash('sha256', Buffer.concat([Buffer.of(0), coveredEvent(event)])));
  t.deepEqual(leaves.slice(0, expected.length), expected);
  const half = await auditor.get(`/console/api/leaves?after=${events[4]?.position}`);
  t.deepEqual(
    ((await half.json()) as { leaves: string[] }).leaves.slice(0, expected.length - 5),
    expected.slice(5),
  );
  t.is((await auditor.get('/console/api/leaves?after=nowhere')).status, 400);
  t.deepEqual(await (await auditor.get('/console/api/anchors')).json(), { anchors: [] });
});

test('a manifest of many long paths is sent', async (t) => {
  const { service, alice } = t.context;
  const folders = Array.from({ length: 15 }, () => `${'long'.repeat(60)}/`).join('');
  const archive = zipOf(
    Array.from({ length: 2500 }, (_, number) => ({ name: `${folders}${number}`, data: '' })),
  );
  const made = await alice.post('/1/software/', formOf([archivePart(archive), entryPart()]), {
    ...formType,
    ...final,
  });
  const id = depositIdOf(made);
  await alice.waitFor(`/1/software/${id}/status/`, 'done');
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const answer = await auditor.get(`/console/api/deposits/${id}/manifest`);
  t.is(answer.status, 200);
  t.true((await answer.text()).length > 8 * 1024 ** 2);
});

test('a manifest and the bytes of its files are downloads, only for permitted roles', async (t) => {
  const { service, alice } = t.context;
  const id = await loaded(alice);
  const [operator, auditor] = [
    await ConsoleSession.begin(service, 'operator'),
    await ConsoleSession.begin(service, 'auditor'),
  ];
  const manifest = await auditor.get(`/console/api/deposits/${id}/manifest`);
  const text = await manifest.text();
  const events = await Array.fromAsync(service.service.log.readStream(`deposit-${id}`));
  const event = events.find(({ type }) => type === 'DepositLoaded');
  t.is(hash('sha256', text), event?.data['manifest'] as string);
  const line = text.split('\n').find((one) => one.includes('hello.py')) ?? '';
  const { id: content } = JSON.parse(line) as { id: string };
  const path = `/console/api/deposits/${id}/bytes?swhid=swh:1:cnt:${content}`;
  const answer = await operator.get(path);
  t.is(await answer.text(), 'print("hello")\n');
  t.is(answer.headers.get('Content-Type'), 'application/octet-stream');
  t.regex(answer.headers.get('Content-Disposition') ?? '', /^attachment; filename="?swh_1_cnt_/);
  t.is(answer.headers.get('Content-Security-Policy'), "default-src 'none'; sandbox");
  t.is(answer.headers.get('X-Content-Type-Options'), 'nosniff');
  t.is((await auditor.get(path)).status, 403);
  const head = await fetch(new URL(path, service.url), {
    method: 'HEAD',
    headers: { Cookie: operator.cookie },
  });
  t.deepEqual([head.status, head.headers.get('Content-Length')], [200, '15']);
  const summary = (await (await auditor.get(`/console/api/deposits/${id}`)).json()) as Summary;
  t.true(summary.context.startsWith(`swh:1:dir:${summary.row.directory};origin=`));
  const tar = await operator.get(
    `/console/api/deposits/${id}/bytes?swhid=swh:1:dir:${summary.row.directory};path=/`,
  );
  t.is(tar.status, 200);
  t.true((await tar.text()).includes('print("hello")'));
  const other = `swh:1:cnt:${'0'.repeat(40)}`;
  t.is((await operator.get(`/console/api/deposits/${id}/bytes?swhid=${other}`)).status, 404);
  t.is(
    (await operator.get(`/console/api/deposits/${id}/bytes?swhid=swh:1:rev:${summary.row.revisionId}`))
      .status,
    404,
  );
  t.is((await operator.get(`/console/api/deposits/${id}/bytes?swhid=nothing`)).status, 400);
});

test('the listing of an archive is the object that the check stored, and only for archives of the deposit', async (t) => {
  const { service, alice, bob } = t.context;
  const [id, other] = [await loaded(alice), await loaded(bob)];
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const path = `/console/api/deposits/${id}/listings`;
  const { readings } = (await (await auditor.get(path)).json()) as { readings: ArchiveReading[] };
  const events = await Array.fromAsync(service.service.log.readStream(`deposit-${id}`));
  t.deepEqual(readings, events.find(({ type }) => type === 'DepositVerified')?.data['readings'] as never);
  const [{ archive, listing }] = readings as [ArchiveReading];
  const text = await (await auditor.get(`${path}/${archive}`)).text();
  t.is(hash('sha256', text), listing);
  t.true(text.includes('hello.py'));
  for (const digest of ['0'.repeat(64), listing]) t.is((await auditor.get(`${path}/${digest}`)).status, 404);
  const depositor = await ConsoleSession.begin(service, 'depositor', 'alice');
  t.is((await depositor.get(`${path}/${archive}`)).status, 200);
  t.is((await depositor.get(`/console/api/deposits/${other}/listings/${archive}`)).status, 404);
});

test('a depositor gets nothing of other clients, and no events', async (t) => {
  const { service, alice, bob } = t.context;
  const [own, other] = [await loaded(alice), await loaded(bob)];
  const depositor = await ConsoleSession.begin(service, 'depositor', 'alice');
  for (const part of ['', '/manifest', '/versions', '/listings']) {
    t.is((await depositor.get(`/console/api/deposits/${own}${part}`)).status, 200, part);
    const [foreign, missing] = [
      await depositor.get(`/console/api/deposits/${other}${part}`),
      await depositor.get(`/console/api/deposits/999${part}`),
    ];
    t.deepEqual([foreign.status, missing.status], [404, 404], part);
    t.is(
      (await foreign.text()).replaceAll(String(other), 'N'),
      (await missing.text()).replaceAll('999', 'N'),
    );
  }
  t.is(
    (await depositor.get(`/console/api/deposits/${other}/bytes?swhid=swh:1:cnt:${'0'.repeat(40)}`)).status,
    404,
  );
  for (const path of [
    `/console/api/streams/deposit-${own}/events`,
    '/console/api/leaves',
    '/console/api/anchors',
  ])
    t.is((await depositor.get(path)).status, 403, path);
});

test('the history of a deleted deposit remains for operators and auditors', async (t) => {
  const { service, alice } = t.context;
  const created = await alice.post('/1/software/', body, { ...formType, 'In-Progress': 'true' });
  const id = depositIdOf(created);
  const auditor = await ConsoleSession.begin(service, 'auditor');
  const depositor = await ConsoleSession.begin(service, 'depositor', 'alice');
  t.is((await alice.delete(`${pathOf(created)}metadata/`)).status, 204);
  const shown = await auditor.get(`/console/api/deposits/${id}`);
  t.deepEqual(await shown.json(), { depositId: id, row: null, context: null });
  t.is((await auditor.get(`/console/api/deposits/${id}/manifest`)).status, 404);
  t.is((await depositor.get(`/console/api/deposits/${id}`)).status, 404);
  const page = (await (await auditor.get(`/console/api/streams/deposit-${id}/events`)).json()) as Page;
  t.is(page.events.at(-1)?.type, 'DepositDeleted');
});

const body = formOf([archivePart(helloTar, 'hello.tar', 'application/x-tar'), entryPart()]);

/** Makes a deposit, and resolves to its id once it is done. */
async function loaded(client: TestClient): Promise<number> {
  const answer = await client.post('/1/software/', body, { ...formType, ...final });
  const id = depositIdOf(answer);
  await client.waitFor(`/1/software/${id}/status/`, 'done');
  return id;
}
