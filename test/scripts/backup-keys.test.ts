import fs, { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { backUpKeys } from '../../src/operations/backup/backup-keys.ts';
import { FILES_OF_NODE } from '../../src/tools/files.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { RunningService } from '../../testing/service/running-service.ts';

function keysIn(folder: string): Record<string, string> {
  return {
    DEPOSIT_WEBHOOK_KEY_FILE: path.join(folder, 'webhook-key'),
    DEPOSIT_ANCHOR_KEY_FILE: path.join(folder, 'anchor.pem'),
  };
}

test('keys stored elsewhere are backed up, and restored to the paths in the current settings', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const [secrets, backup] = [await temporaryFolder(t), await temporaryFolder(t)];
  const before = { env: keysIn(secrets) };
  t.is((await runScript(service.folder, 'anchor', [], before)).code, 0);
  t.is((await runScript(service.folder, 'client', ['webhook', 'alice', 'https://8.8.8.8/'], before)).code, 0);
  await chmod(path.join(secrets, 'webhook-key'), 0o444); // like the secrets of containers
  await mkdir(path.join(service.folder, 'keys'));
  await writeFile(path.join(service.folder, 'keys/old.key'), Buffer.from([0, 255, 254]));
  const made = await runScript(service.folder, 'backup', ['--init', backup, '--json'], before);
  t.is(made.code, 0, made.err);
  const names = ['anchor-ed25519.pem', 'webhook-aes256.key', 'old.key'];
  t.deepEqual((JSON.parse(made.out) as { keys: string[] }).keys, names);

  const [target, elsewhere] = [await temporaryFolder(t), await temporaryFolder(t)];
  const restored = await runScript(target, 'restore', [backup], { env: keysIn(elsewhere) });
  t.is(restored.code, 0, restored.err);
  for (const name of ['webhook-key', 'anchor.pem']) {
    t.deepEqual(await readFile(path.join(elsewhere, name)), await readFile(path.join(secrets, name)));
    t.is((await stat(path.join(elsewhere, name))).mode & 0o777, 0o600);
  }
  t.deepEqual(await readFile(path.join(target, 'keys/old.key')), Buffer.from([0, 255, 254]));

  // Keys that cannot be restored are named, with their place; existing ones stay.
  const inTheWay = await temporaryFolder(t);
  await writeFile(path.join(inTheWay, 'webhook-key'), 'another');
  const settings = { ...keysIn(inTheWay), DEPOSIT_ANCHOR_KEY_FILE: path.join(inTheWay, 'webhook-key/x') };
  const refused = await runScript(await temporaryFolder(t), 'restore', [backup], { env: settings });
  t.is(refused.code, 1);
  const from = path.join(backup, 'keys');
  t.true(
    refused.err.includes(
      `The key ${from}/webhook-aes256.key was not put at ${inTheWay}/webhook-key: a different one exists`,
    ),
  );
  t.true(refused.err.includes(`The key ${from}/anchor-ed25519.pem was not put at`));
  t.regex(refused.err, /^No service starts until the same command has put every key in place\.$/m);
  t.is(await readFile(path.join(inTheWay, 'webhook-key'), 'utf8'), 'another');
});

test('a changed key replaces the one in the backup', async (t) => {
  await using service = await RunningService.start();
  const [secrets, backup] = [await temporaryFolder(t), await temporaryFolder(t)];
  const settings = { env: keysIn(secrets) };
  for (const key of ['first', 'second']) {
    await writeFile(path.join(secrets, 'webhook-key'), key);
    t.is((await runScript(service.folder, 'backup', ['--init', backup], settings)).code, 0);
    t.is(await readFile(path.join(backup, 'keys/webhook-aes256.key'), 'utf8'), key);
  }
});

test('a backup removes leftovers of a killed one, and copies no unfinished key', async (t) => {
  await using service = await RunningService.start();
  const backup = await temporaryFolder(t);
  const uuid = '0b5f5a5e-8f0c-4c55-9d5d-2f3a0c4b1e77';
  const left = ['keys/old.key.new', `keys/old.key.new.${uuid}`, `archives/incoming/${uuid}`];
  for (const name of left) {
    await mkdir(path.dirname(path.join(backup, name)), { recursive: true });
    await writeFile(path.join(backup, name), 'left');
  }
  await mkdir(path.join(service.folder, 'keys'));
  for (const name of ['old.key', `old.key.${uuid}`])
    await writeFile(path.join(service.folder, 'keys', name), 'old');
  const made = await runScript(service.folder, 'backup', ['--init', backup, '--json']);
  t.is(made.code, 0, made.err);
  t.deepEqual((JSON.parse(made.out) as { keys: string[] }).keys, ['old.key']);
  for (const name of left) t.false(existsSync(path.join(backup, name)), name);

  const target = await temporaryFolder(t);
  await mkdir(path.join(target, 'keys'));
  await writeFile(path.join(target, `keys/old.key.${uuid}`), 'left');
  const restored = await runScript(target, 'restore', [backup]);
  t.is(restored.code, 0, restored.err);
  t.deepEqual(await readdir(path.join(target, 'keys')), ['old.key']);
});

test('the name of a key in a backup is synced after the rename', async (t) => {
  const [dataDir, backup] = [await temporaryFolder(t), await temporaryFolder(t)];
  const config = readConfig({ DEPOSIT_DATA_DIR: dataDir });
  await mkdir(path.join(dataDir, 'keys'));
  await writeFile(path.join(dataDir, 'keys/old.key'), 'old');
  const done: string[] = [];
  const rename: typeof fs.promises.rename = async (from, to) => {
    await fs.promises.rename(from, to);
    done.push('renamed');
  };
  const open: typeof fs.promises.open = async (file, flags, mode) => {
    const handle = await fs.promises.open(file, flags, mode);
    if (file === path.join(backup, 'keys')) done.push('folder opened to be synced');
    return handle;
  };
  await runInWorld({ files: { ...FILES_OF_NODE, rename, open } }, () => backUpKeys(config, backup));
  t.deepEqual(done.slice(-2), ['renamed', 'folder opened to be synced']);
});
