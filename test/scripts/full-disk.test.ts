import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { listReadiness } from '../../src/object-store/list-readiness.ts';
import { ObjectStoreUnavailable } from '../../src/object-store/object-store.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { RunningService } from '../../testing/service/running-service.ts';

test('backup and migrate need no write to log and store, and gc none to the log, as on a full disk', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const { store } = service.service;
  await store.put([randomBytes(100_000)]);
  const writers = ['event-log.sqlite', 'archives/small.sqlite'].map(
    (file) => new DatabaseSync(path.join(service.folder, file)),
  );
  for (const writer of writers) writer.exec('BEGIN IMMEDIATE'); // no other connection can write
  const backup = await runScript(service.folder, 'backup', ['--init', await temporaryFolder(t)]);
  t.is(backup.code, 0, backup.err);
  const [target, { folder }] = [await temporaryFolder(t), service];
  for (const [from, to] of [
    [`sqlite:${folder}/event-log.sqlite`, `sqlite:${target}/log.sqlite`],
    [`file:${folder}/archives`, `file:${target}/archives`],
  ] as const) {
    const { code, err } = await runScript(folder, 'migrate', ['--from', from, '--to', to]);
    t.is(code, 0, err);
  }
  writers.pop()?.close();
  const gc = await runScript(service.folder, 'gc', ['--remove', '--json']);
  t.is(gc.code, 0, gc.err);
  writers.pop()?.close();
});

test('a full store lists all its objects, one that is not ready for another reason may not', async (t) => {
  const failing = (cause: object) => ({
    ready: () =>
      Promise.reject(
        new ObjectStoreUnavailable('It cannot write.', { cause: Object.assign(new Error(), cause) }),
      ),
  });
  for (const full of [{ code: 'ENOSPC' }, { code: 'XMinioStorageFull' }, { errcode: 13 }])
    t.is(await listReadiness(failing(full)), null, JSON.stringify(full));
  for (const other of [{ code: 'SlowDownWrite' }, { errcode: 10 }, {}])
    t.is(await listReadiness(failing(other)), 'It cannot write.', JSON.stringify(other));
  t.is(await listReadiness({ ready: () => Promise.resolve() }), null);
  await t.throwsAsync(listReadiness({ ready: () => Promise.reject(new TypeError('x')) }), { message: 'x' });
});
