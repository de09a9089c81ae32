import test from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { secretCredential } from '../../testing/service/secret-password.ts';

test('an operator sets a webhook, sees its secret once, and removes it', async (t) => {
  const folder = await temporaryFolder(t);
  await using _made = await openLog(readConfig({ DEPOSIT_DATA_DIR: folder })); // like a service
  const client = (...args: string[]) => runScript(folder, 'client', args, { input: 'whsec_short' });
  t.is((await client('add', 'alice', '--password-stdin')).code, 0);
  const [local, weak, twice] = await Promise.all([
    client('webhook', 'alice', 'https://alice:secret@127.0.0.1/'),
    client('webhook', 'alice', 'https://8.8.8.8/hook', '--secret-stdin'),
    client('webhook', 'alice', '--off', '--retry'),
  ]);
  t.deepEqual([local.code, weak.code, twice.code], [1, 1, 2]);
  t.regex(weak.err, /^The secret must be "whsec_" followed by/);
  const done = await client('webhook', 'alice', 'HTTPS://8.8.8.8/hook#not-stored');
  t.regex(done.out, /^alice is notified at https:\/\/8\.8\.8\.8\/hook from now on\.\n/);
  t.regex(done.out, /\nSecret, shown only now: whsec_[A-Za-z0-9+/]{43}=\n$/);
  const shown = await client('show', 'alice', '--json');
  t.is((JSON.parse(shown.out) as { webhook: string }).webhook, 'https://8.8.8.8/hook');
  t.notRegex(shown.out, /whsec|ciphertext/);
  t.is((await client('webhook', 'alice', '--off')).out, 'alice is no longer notified.\n');
});

test('a notification that is delivered meanwhile does not stop the retry of the others', async (t) => {
  await using service = await RunningService.start({ roles: ['http'] });
  const alice = await service.register('alice', { collections: ['software'] });
  const about = { client: 'alice', collection: 'software', revision: 0, reason: 'It is down.' };
  const hold = (depositId: number) => {
    const [eventId, heldAt] = [`e-${depositId}`, new Date().toISOString()];
    const command = { type: 'HoldNotification', ...about, depositId, eventId, heldAt } as const;
    return service.administration.notifications(command);
  };
  const secret = { scheme: 'aes-256-gcm', keyId: 'k', iv: '', ciphertext: '', tag: '' } as const;
  const url = 'https://alice.example/hook';
  await service.administration.client({ type: 'SetWebhook', client: 'alice', url, secret });
  for (const depositId of [1, 2, 3]) await hold(depositId);
  await until(async () =>
    /"deposit_id":3\b/.test(await (await alice.get('/1/software/notifications/')).text()),
  );
  await service.stop();
  {
    await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: service.folder }));
    const notifier = new AdminCommands(log, { kind: 'reactor', name: 'notifier' });
    for (const depositId of [1, 3])
      await notifier.notifications({ type: 'RecordDelivered', depositId, revisions: [0] }); // the view lags behind
  }
  const retry = (...ids: string[]) =>
    runScript(service.folder, 'client', ['webhook', 'alice', '--retry', ...ids]);
  const gone = (depositId: number) => `No notification about deposit ${depositId} is waiting or expired.\n`;
  const out = 'deposit 2: 1 notification is tried now.\n';
  const all = await retry();
  t.like(all, { code: 0, out }, all.err);
  t.is(all.err, gone(1) + gone(3));
  const named = await retry('1', '2');
  t.like(named, { code: 1, out }, named.err);
  t.is(named.err, gone(1));
});

test('the list of failures has the time of the next try, also after the first one', async (t) => {
  await using service = await RunningService.start({ roles: ['http'] });
  const alice = await service.register('alice', { collections: ['software'] });
  const dueAt = '2026-03-01T10:00:01.000Z';
  for (const [depositId, nextTryAt] of [[1, dueAt] as const, [2, null] as const]) {
    const about = { depositId, client: 'alice', collection: 'software', eventId: `e-${depositId}` };
    const held = { revision: 0, heldAt: '2026-03-01T10:00:00.000Z', nextTryAt };
    const reason = 'The receiver answered 503.';
    await service.administration.notifications({ type: 'HoldNotification', ...about, ...held, reason });
  }
  await until(async () =>
    /"deposit_id":2\b/.test(await (await alice.get('/1/software/notifications/')).text()),
  );
  const failures = await runScript(service.folder, 'client', ['webhook', 'alice', '--failures']);
  const lines = failures.out.trimEnd().split('\n').toSorted();
  t.deepEqual(lines, [
    `deposit 1: 1 wait, next try at ${dueAt}. The receiver answered 503.`,
    'deposit 2: 1 wait, due now. The receiver answered 503.',
  ]);
});

test('nothing is retried for a client that is unknown, has no webhook or is disabled', async (t) => {
  const folder = await temporaryFolder(t);
  {
    await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: folder }));
    const administration = new AdminCommands(log, { kind: 'operator', name: 'test' });
    for (const client of ['alice', 'bob'])
      await administration.client({ type: 'RegisterClient', client, credential: secretCredential });
    const secret = { scheme: 'aes-256-gcm', keyId: 'k', iv: '', ciphertext: '', tag: '' } as const;
    const url = 'https://bob.example/hook';
    await administration.client({ type: 'SetWebhook', client: 'bob', url, secret });
    await administration.client({ type: 'DisableClient', client: 'bob' });
  }
  const webhook = (...args: string[]) => runScript(folder, 'client', ['webhook', ...args]);
  const [without, disabled, ...unknown] = await Promise.all([
    webhook('alice', '--retry'),
    webhook('bob', '--retry'),
    webhook('carol', '--retry'),
    webhook('carol', '--failures'),
  ]);
  t.like(without, { code: 1, out: '' });
  t.regex(without.err, /^alice has no webhook, so nothing can be sent\./);
  t.like(disabled, { code: 1, out: '' });
  t.regex(disabled.err, /^bob is disabled, so nothing can be sent\./);
  for (const { code, err } of unknown) t.deepEqual([code, err], [1, 'Client carol not found.\n']);
});
