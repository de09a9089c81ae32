import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import type { Config } from '../../src/config/config.ts';
import { handleCommand, readState } from '../../src/deposits/command-handler.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import type { RecordedEvent } from '../../src/event-log/event-log.ts';
import { FilesystemObjectStore } from '../../src/object-store/filesystem/filesystem-object-store.ts';
import { ObjectMissing } from '../../src/object-store/object-store.ts';
import { checker, loader } from '../../src/reactors/deposit-reactors.ts';
import { parkedEvents } from '../../src/reactors/parking.ts';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { aliceArchive, createDeposit, reading } from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { archivePart, entryPart, final, formOf, formType } from '../../testing/http/deposit-bodies.ts';
import { depositIdOf } from '../../testing/http/made-deposits.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { Exposition } from '../../testing/service/exposition.ts';
import { RunningService } from '../../testing/service/running-service.ts';

const UNREADABLE =
  '<deposit_status_detail>The service cannot read its copy of the archive at the moment; nothing is needed from you.</deposit_status_detail>';

const PARKED = ['deposit_reactor_parked_events', { reactor: 'checker' }] as const;

const HTTP_ALONE = { roles: ['http'] } as const;
/** Pauses of milliseconds instead of minutes. */
const SOON = { reactionPause: 1, stuckAfter: 200 } as const;
/** The second try comes after the end of the test. */
const LATER = { reactionPause: 1_000_000, stuckAfter: 3_600_000 } as const;

const context = {
  commandId: '6a1b4f0e-0000-4000-8000-000000000003',
  actor: { kind: 'client', name: 'alice' },
  now: '2026-03-01T10:00:00.000Z',
  correlationId: 'c',
} as const;

for (const work of ['check', 'load'] as const) {
  test(`a ${work} with a missing object leaves the status of the deposit, and records the object once`, async (t) => {
    await using log = new MemoryEventLog();
    await using store = await FilesystemObjectStore.open({ folder: await temporaryFolder(t) });
    await handleCommand(log, deposits, 1, createDeposit(), context);
    if (work === 'load') {
      const verified = {
        type: 'RecordVerified',
        depositId: 1,
        attempt: 1,
        readings: [reading],
        warnings: [],
      } as const;
      await handleCommand(log, deposits, 1, verified, { ...context, commandId: randomUUID() });
    }
    const [event] = await Array.fromAsync(log.readStream('deposit-1', { backwards: true, limit: 1 }));
    const unused = {} as never;
    const reactor =
      work === 'check'
        ? checker({ log, store, reader: unused, limits: unused, logins: unused, views: unused, identity: '' })
        : loader({ log, store, reader: unused, identity: '' });
    const reaction = reactor.react(event as RecordedEvent, AbortSignal.any([]));
    const error = await t.throwsAsync(reaction, { instanceOf: ObjectMissing });
    for (let times = 0; times < 2; times += 1) await reactor.giveUp(event as RecordedEvent, error);
    const after = await Array.fromAsync(log.readStream('deposit-1', { from: (event?.revision ?? 0) + 1 }));
    const object = work === 'check' ? aliceArchive.sha256 : reading.listing;
    t.deepEqual(
      after.map(({ type, data }) => [type, data]),
      [['CopyUnreadable', { depositId: 1, work, attempt: 1, object, code: 'OBJECT_MISSING' }]],
    );
    t.is((await readState(log, deposits, 1)).state.status, work === 'check' ? 'deposited' : 'verified');
  });
}

/** Starts a service without reactors in a folder in which deposits wait. */
async function waiting(t: ExecutionContext): Promise<RunningService> {
  const service = await RunningService.start(HTTP_ALONE);
  t.teardown(() => service[Symbol.asyncDispose]());
  return service;
}

async function restarted(
  t: ExecutionContext,
  service: RunningService,
  overrides: Partial<Config> = {},
): Promise<RunningService> {
  await service.stop();
  const again = await RunningService.startIn(service.folder, overrides);
  t.teardown(() => again.stop());
  return again;
}

/** Deposits an archive that the store has as a file; resolves to its status IRI and that file. */
async function deposited(service: RunningService, client: TestClient) {
  const archive = tarOf([{ name: 'paint/noise.bin', data: randomBytes(100_000) }]);
  const parts = [archivePart(archive, 'paint.tar', 'application/x-tar'), entryPart()];
  const answer = await client.post('/1/software/', formOf(parts), { ...formType, ...final });
  const id = depositIdOf(answer);
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const file = path.join(
    service.folder,
    'archives/v1/sha256',
    sha256.slice(0, 2),
    sha256.slice(2, 4),
    sha256,
  );
  return { id, iri: `/1/software/${id}/status/`, archive, sha256, file };
}

async function parkedObjects({ service }: RunningService): Promise<(string | undefined)[]> {
  return (await parkedEvents(service.log, 'checker')).map(({ object }) => object);
}

/** Polls readiness, as a busy machine may take too long for one check. */
async function isReadyWith({ url }: RunningService, parked: number): Promise<boolean> {
  const answer = await fetch(`${url}/health/ready`);
  return answer.status === 200 && isDeepStrictEqual(await answer.json(), { status: 'ready', parked });
}

for (const fault of ['missing', 'damaged'] as const) {
  test(`a deposit whose archive is ${fault} keeps its status, is parked and counted, and continues when it is back`, async (t) => {
    const service = await waiting(t);
    const alice = await service.register('alice', { collections: ['software'] });
    const { id, iri, archive, sha256, file } = await deposited(service, alice);
    await rename(file, `${file}.aside`);
    if (fault === 'damaged') await writeFile(file, Buffer.concat([archive.subarray(0, -1), Buffer.of(1)]));

    const checking = await restarted(t, service, SOON);
    const client = alice.at(checking.url);
    await until(async () => (await parkedObjects(checking)).length === 1);
    t.deepEqual(await parkedObjects(checking), [sha256]);
    const shownToClient = async () => (await client.get(iri)).text();
    await until(async () => (await shownToClient()).includes(UNREADABLE));
    t.regex(await shownToClient(), /<deposit_status>deposited</);
    await until(() => isReadyWith(checking, 1));
    const counted = async () => (await Exposition.of(service.folder)).value(...PARKED);
    await until(async () => (await counted()) === 1);
    const shown = JSON.parse((await runScript(service.folder, 'status', ['--json'])).out) as {
      parked: { object: string }[];
    };
    t.deepEqual(
      shown.parked.map(({ object }) => object),
      [sha256],
    );

    const retry = async (reason: string) =>
      (await runScript(service.folder, 'retry', ['--reason', reason, '--json'])).out;
    t.is(await retry('OBJECT_UNREADABLE'), '');
    const retried = { deposit_id: id, event: 'ParkedRetried', attempt: 1 };
    const code = fault === 'missing' ? 'OBJECT_MISSING' : 'OBJECT_CORRUPT';
    t.deepEqual(JSON.parse(await retry(code)), retried);
    await until(async () => (await parkedObjects(checking)).length === 1);

    await rename(`${file}.aside`, file);
    await client.waitFor(iri, 'done');
    t.deepEqual(await parkedObjects(checking), []);
    await until(() => isReadyWith(checking, 0));
  });
}

test('rebuilt views have the same facts about an unreadable archive', async (t) => {
  const service = await waiting(t);
  const alice = await service.register('alice', { collections: ['software'] });
  const { iri, file } = await deposited(service, alice);
  await rm(file);
  const checking = await restarted(t, service, SOON);
  await until(async () => (await (await alice.at(checking.url).get(iri)).text()).includes(UNREADABLE));
  const before = await (await alice.at(checking.url).get(iri)).text();
  await checking.stop();
  await rm(path.join(service.folder, 'views'), { recursive: true });
  const rebuilt = await RunningService.startIn(service.folder, HTTP_ALONE);
  t.teardown(() => rebuilt.stop());
  t.is(
    (await (await alice.at(rebuilt.url).get(iri)).text()).replaceAll(rebuilt.url, ''),
    before.replaceAll(checking.url, ''),
  );
});

test('more deposits with corrupt archives than slots do not delay those of other clients', async (t) => {
  const service = await waiting(t);
  const collections = ['software'];
  const alice = await service.register('alice', { collections });
  for (const name of ['bob', 'carl']) {
    const client = await service.register(name, { collections });
    for (let count = 0; count < 8; count += 1) {
      const { archive, file } = await deposited(service, client);
      await writeFile(file, Buffer.concat([archive.subarray(0, -1), Buffer.of(1)]));
    }
  }
  const { iri } = await deposited(service, alice);
  const checking = await restarted(t, service, LATER);
  t.regex(await alice.at(checking.url).waitFor(iri, 'done'), /swh:1:dir:/);
  t.deepEqual(await parkedObjects(checking), [], 'the corrupt ones wait for their second attempt');
});
