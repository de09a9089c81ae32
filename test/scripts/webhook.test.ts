import test from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

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
  const done = await client('webhook', 'alice', 'https://8.8.8.8/hook');
  t.regex(done.out, /^alice is notified at https:\/\/8\.8\.8\.8\/hook from now on\.\n/);
  t.regex(done.out, /\nSecret, shown only now: whsec_[A-Za-z0-9+/]{43}=\n$/);
  const shown = await client('show', 'alice', '--json');
  t.is((JSON.parse(shown.out) as { webhook: string }).webhook, 'https://8.8.8.8/hook');
  t.notRegex(shown.out, /whsec|ciphertext/);
  t.is((await client('webhook', 'alice', '--off')).out, 'alice is no longer notified.\n');
});
