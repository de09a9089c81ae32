import test from 'ava';
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
