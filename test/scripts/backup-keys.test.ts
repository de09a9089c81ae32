import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { runScript } from '../support/run-script.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function keysIn(folder: string): Record<string, string> {
  return {
    DEPOSIT_WEBHOOK_KEY_FILE: path.join(folder, 'webhook-key'),
    DEPOSIT_ANCHOR_KEY_FILE: path.join(folder, 'anchor.pem'),
  };
}

test('keys that lie elsewhere are backed up, and restored to where the settings have them then', async (t) => {
  await using service = await RunningService.start();
  await service.register('alice', { collections: ['software'] });
  const [secrets, backup] = [await temporaryFolder(t), await temporaryFolder(t)];
  const before = { env: keysIn(secrets) };
  t.is((await runScript(service.folder, 'anchor', [], before)).code, 0);
  t.is((await runScript(service.folder, 'client', ['webhook', 'alice', 'https://8.8.8.8/'], before)).code, 0);
  await chmod(path.join(secrets, 'webhook-key'), 0o444); // as secrets of containers are
  await mkdir(path.join(service.folder, 'keys'));
  await writeFile(path.join(service.folder, 'keys/old.key'), Buffer.from([0, 255, 254]));
  const made = await runScript(service.folder, 'backup', [backup, '--json'], before);
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

  // What cannot be brought is named, with where it is; what is there stays.
  const inTheWay = await temporaryFolder(t);
  await writeFile(path.join(inTheWay, 'webhook-key'), 'another');
  const settings = { ...keysIn(inTheWay), DEPOSIT_ANCHOR_KEY_FILE: path.join(inTheWay, 'webhook-key/x') };
  const refused = await runScript(await temporaryFolder(t), 'restore', [backup], { env: settings });
  t.is(refused.code, 1);
  const from = path.join(backup, 'keys');
  t.true(
    refused.err.includes(
      `The key ${from}/webhook-aes256.key was not put at ${inTheWay}/webhook-key: another`,
    ),
  );
  t.true(refused.err.includes(`The key ${from}/anchor-ed25519.pem was not put at`));
  t.is(await readFile(path.join(inTheWay, 'webhook-key'), 'utf8'), 'another');
});

test('a key that has changed replaces the one of the backup before', async (t) => {
  await using service = await RunningService.start();
  const [secrets, backup] = [await temporaryFolder(t), await temporaryFolder(t)];
  const settings = { env: keysIn(secrets) };
  for (const key of ['first', 'second']) {
    await writeFile(path.join(secrets, 'webhook-key'), key);
    t.is((await runScript(service.folder, 'backup', [backup], settings)).code, 0);
    t.is(await readFile(path.join(backup, 'keys/webhook-aes256.key'), 'utf8'), key);
  }
});
