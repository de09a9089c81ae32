import { chmod, chown, cp, readdir, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { makeDoneDeposit } from '../../testing/http/made-deposits.ts';
import { makeReadOnly, mountedFolder } from '../../testing/processes/mounted-folder.ts';
import { canBeUnprivileged } from '../../testing/processes/other-user.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { RunningService } from '../../testing/service/running-service.ts';

/** User as whom root, who may write anywhere, runs what must not write. */
const NOBODY = 65_534;

const unprivileged = canBeUnprivileged ? test : test.skip;
unprivileged('restore reads a backup that its user may only read, and leaves it as it is', async (t) => {
  const backup = await backedUp(t);
  const elsewhere = await temporaryFolder(t);
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;
  if (user) await chown(elsewhere, user.uid, user.gid);
  await setModes(backup, { file: 0o444, folder: 0o555 });
  t.teardown(() => setModes(backup, { file: 0o600, folder: 0o700 })); // so that it can be removed
  const before = await modesIn(backup);
  const { code, err } = await runScript(elsewhere, 'restore', [backup], { user });
  t.is(code, 0, err);
  t.deepEqual(await modesIn(backup), before);
  if (user) await setOwner(elsewhere, process.getuid?.() ?? 0);
  await using service = await RunningService.startIn(elsewhere);
  t.truthy(service.url);
});

test('restore reads a backup on a read-only file system', async (t) => {
  const mounted = await mountedFolder(t, '16m');
  if (mounted === undefined) return t.pass('this user may not mount a file system');
  await cp(await backedUp(t), mounted, { recursive: true });
  await makeReadOnly(mounted);
  const elsewhere = await temporaryFolder(t);
  const { code, err } = await runScript(elsewhere, 'restore', [mounted]);
  t.is(code, 0, err);
});

test('a backup without its log or its archives is refused before anything is restored', async (t) => {
  const backup = await backedUp(t);
  for (const [name, part] of [
    ['event-log.sqlite', 'event log'],
    ['archives', 'archives'],
  ] as const) {
    const elsewhere = await temporaryFolder(t);
    await rename(path.join(backup, name), path.join(backup, 'away'));
    const { code, err } = await runScript(elsewhere, 'restore', [backup]);
    t.is(code, 1);
    t.is(err, `The backup ${backup} has no ${part}.\n`);
    t.false((await readdir(elsewhere)).includes('event-log.sqlite'));
    await rename(path.join(backup, 'away'), path.join(backup, name));
  }
});

async function backedUp(t: ExecutionContext): Promise<string> {
  const backup = await temporaryFolder(t);
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  await makeDoneDeposit(alice);
  const { code, err } = await runScript(service.folder, 'backup', ['--init', backup]);
  t.is(code, 0, err);
  return backup;
}

async function setModes(folder: string, modes: { file: number; folder: number }): Promise<void> {
  await chmod(folder, 0o700);
  for (const place of await placesIn(folder))
    await chmod(place, (await stat(place)).isDirectory() ? modes.folder : modes.file);
  await chmod(folder, modes.folder);
}

async function setOwner(folder: string, uid: number): Promise<void> {
  for (const place of [folder, ...(await placesIn(folder))]) await chown(place, uid, uid);
}

async function modesIn(folder: string): Promise<readonly string[]> {
  const places = (await placesIn(folder)).toSorted();
  return Promise.all(places.map(async (place) => `${place} ${(await stat(place)).mode.toString(8)}`));
}

async function placesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder, { recursive: true })).map((name) => path.join(folder, name));
}
