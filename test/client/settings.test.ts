import { PassThrough } from 'node:stream';
import test from 'ava';
import { UsageFault } from '../../client/faults.ts';
import { promptForPassword } from '../../client/password-prompt.ts';
import { isExposed } from '../../client/settings.ts';

test('a password is said to be exposed wherever plain http leaves this machine', (t) => {
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

test('a password is asked for at the terminal, and who gives none is told so', async (t) => {
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
    await t.throwsAsync(typed(key), { instanceOf: UsageFault, message: 'No password was given.' }, name);
});
