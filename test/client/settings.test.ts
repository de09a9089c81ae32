import { mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import test from 'ava';
import { packingTime } from '../../client/archives/prepare-archive.ts';
import { readProxies } from '../../client/environment.ts';
import { UsageFault } from '../../client/faults.ts';
import { keepLogin } from '../../client/kept-login.ts';
import { promptForPassword } from '../../client/password-prompt.ts';
import { isExposed, passwordIn, readLogin } from '../../client/settings.ts';
import { CommandLineDepositor } from '../../testing/processes/deposit-command.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

test('a password sent by plain http to another host causes a warning', (t) => {
  const exposed = [
    'http://localhost.evil.example/',
    'http://127.evil.example/',
    'http://127.0.0.1.evil.example/',
    'http://192.0.2.1:8080/',
    'http://[2001:db8::1]/',
  ];
  const safe = ['http://localhost:8080/', 'http://127.1.2.3/', 'http://[::1]:8080/', 'https://evil.example/'];
  t.deepEqual(
    exposed.filter((url) => !isExposed(new URL(url))),
    [],
  );
  t.deepEqual(
    safe.filter((url) => isExposed(new URL(url))),
    [],
  );
});

test('the address of a proxy may have no scheme, and one that cannot be used is refused without its password', (t) => {
  const addresses = {
    '127.0.0.1:3128': 'http://127.0.0.1:3128/',
    'localhost:3128': 'http://localhost:3128/',
    'me:hunter2@proxy.example': 'http://me:hunter2@proxy.example/',
    'HTTP://proxy.example:3128': 'http://proxy.example:3128/',
    'Https://proxy.example/': 'https://proxy.example/',
  };
  for (const [value, https_proxy] of Object.entries(addresses))
    t.deepEqual(readProxies({ https_proxy: value, NO_PROXY: 'a.example' }), {
      https_proxy,
      NO_PROXY: 'a.example',
    });
  t.deepEqual(readProxies({ HTTP_PROXY: '' }), {});
  for (const value of [
    'socks5://me:hunter2@x',
    'http://',
    'http://me:hunter2@x:port',
    'http://%zz:hunter2@x',
    ' ',
  ])
    t.throws(() => readProxies({ HTTPS_PROXY: value }), {
      instanceOf: UsageFault,
      message: 'HTTPS_PROXY is not the address of a proxy: write it as http://host:port/.',
    });
});

test('the error about an address of a server does not show its password', async (t) => {
  for (const server of [
    'ftp://me:hunter2@x',
    'me:hunter2@x',
    'http://me:hunter2@',
    'http://me:hunter2@x/',
    'http://me:hunt@er2@',
  ])
    await t.throwsAsync(
      readLogin({ server }),
      { instanceOf: UsageFault, message: /^(?!.*(hunt|er2))/s },
      server,
    );
  await t.throwsAsync(readLogin({ server: 'ftp://me:hunter2@x' }), {
    message: /^'ftp:\/\/…@x' is not a server address/,
  });
});

test('a password is requested at the terminal, and an empty one is refused', async (t) => {
  const typed = (keys: string) => {
    const keyboard = Object.assign(new PassThrough(), { isTTY: true });
    keyboard.write(keys);
    return promptForPassword('alice', new URL('http://x/'), keyboard);
  };
  t.is(await typed('secret\r'), 'secret');
  for (const [key, name] of [
    ['\x03', 'Ctrl-C'],
    ['\x04', 'Ctrl-D'],
  ] as const)
    await t.throwsAsync(typed(key), { instanceOf: UsageFault, message: 'No password entered.' }, name);
});

test('a stored password is sent only to its server, as its user', async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of Object.keys(process.env)) if (name.startsWith('SWORD_')) delete process.env[name];
  process.env['XDG_CONFIG_HOME'] = folder;
  const server = 'https://deposit.example/';
  keepLogin({ server, user: 'alice', password: 'secret' }, path.join(folder, 'sword-deposit'));
  for (const options of [
    {},
    { server },
    { user: 'alice' },
    { server: 'https://deposit.example', user: 'alice' },
  ])
    t.is((await readLogin(options)).password, 'secret');
  for (const options of [{ user: 'bob' }, { server: 'https://other.example/', user: 'alice' }])
    await t.throwsAsync(readLogin(options), { message: /^No password given/ }, JSON.stringify(options));
});

test('a password is read from UTF-8 and UTF-16, with byte order mark and line end of Windows', (t) => {
  const utf16be = Buffer.from('\ufeffpässword\r\n', 'utf16le').swap16();
  for (const bytes of [
    Buffer.from('pässword'),
    Buffer.from('pässword\n'),
    Buffer.from('\ufeffpässword\r\n'),
    Buffer.from('\ufeffpässword\r\n', 'utf16le'),
    utf16be,
  ])
    t.is(passwordIn(bytes, 'It'), 'pässword', bytes.toString('hex'));
  t.is(passwordIn(Buffer.from(' two words \r\n'), 'It'), ' two words ', 'spaces belong to the password');
  t.is(passwordIn(Buffer.from(''), 'It'), '');
  const message = 'It is no text in UTF-8, or in UTF-16 with a byte order mark.';
  for (const bytes of [Buffer.from('p\xe4ssword', 'latin1'), Buffer.from('\xff\xfep', 'latin1')])
    t.throws(() => passwordIn(bytes, 'It'), { instanceOf: UsageFault, message });
});

test('the modification time of packed files must fit into a tar header', (t) => {
  t.is(packingTime(undefined).getTime(), 0);
  t.is(packingTime('2147483647').getTime(), 2_147_483_647_000);
  for (const epoch of ['2147483648', '-1', '1.5', 'now'])
    t.throws(() => packingTime(epoch), {
      instanceOf: UsageFault,
      message: `SOURCE_DATE_EPOCH=${epoch} is not a number of seconds from 0 to 2147483647.`,
    });
});

test('compiled code is cached in a private folder of the user, not in the temporary folder', async (t) => {
  const folder = await temporaryFolder(t);
  const TMPDIR = path.join(folder, 'tmp');
  await mkdir(TMPDIR);
  const alice = new CommandLineDepositor(folder);
  const env = { TMPDIR, NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: '' };
  t.is((await alice.run(['--help'], { env })).code, 0);
  const cache = path.join(folder, '.cache/sword-deposit/compile-cache');
  t.is((await stat(cache)).mode & 0o777, 0o700);
  t.true((await readdir(cache)).length > 0);
  t.deepEqual(await readdir(TMPDIR), []);
});
