import { spawn } from 'node:child_process';
import { scryptSync } from 'node:crypto';
import { once } from 'node:events';
import { open, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { readConfig } from '../../src/config/read-config.ts';
import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import type { ClientEvent, Credential } from '../../src/domain/client/client.ts';
import { printWelcome } from '../../src/service/process/welcome.ts';
import { credentialOf, matches, needsRehash, PASSWORD_COST } from '../../src/tools/cryptography/password.ts';
import { createLogger } from '../../src/tools/logger.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { TestClient } from '../../testing/http/test-client.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { quickCredentialOf } from '../../testing/service/secret-password.ts';

const SERVICE_DOCUMENT = '/1/servicedocument/';

/** Returns a credential like an older release with lower costs. */
function cheapCredential(password: string): Credential {
  const [costs, salt] = [{ N: 16, r: 1, p: 1 }, Buffer.from('salt')];
  const digest = scryptSync(password, salt, 32, costs).toString('base64');
  return { scheme: 'scrypt', ...costs, salt: salt.toString('base64'), digest };
}

test('a password has 1 to 1,024 bytes in composed form', async (t) => {
  for (const password of ['', 'x'.repeat(1025), 'é'.repeat(513)]) {
    await t.throwsAsync(credentialOf(password), { code: 'BAD_PASSWORD', message: /has 1 to 1024 bytes/ });
  }
  const longest = await credentialOf('e\u0301'.repeat(512)); // 1,536 bytes as typed, 1,024 composed
  t.like(longest, { scheme: 'scrypt', N: 32_768, r: 8, p: 3 });
  t.false(needsRehash(longest));
  t.true(await matches('\u00e9'.repeat(512), longest));
  t.false(await matches('x'.repeat(1025), cheapCredential('x')));
  t.false(await matches('', cheapCredential('')), 'an empty password is invalid, whatever is stored');
});

test('a password that is not UTF-8 is refused, and wrong whatever is stored', async (t) => {
  const stored = cheapCredential('\uFFFD\uFFFD12');
  for (const bytes of ['d0c13132', 'fffe3132', 'efbfbdefbfbd3132']) {
    const decoded = Buffer.from(bytes, 'hex').toString('utf8');
    await t.throwsAsync(credentialOf(decoded), { code: 'BAD_PASSWORD', message: /is not UTF-8/ });
    t.false(await matches(decoded, stored));
  }
  t.false(await matches('\uD800\uD80012', stored), 'scrypt encodes lone surrogates as U+FFFD');
});

test('a password hashed at lower costs is rehashed at the present ones when its client logs in', async (t) => {
  await using service = await RunningService.start({ passwordCost: PASSWORD_COST });
  const credential = cheapCredential('secret');
  await service.administration.client({ type: 'RegisterClient', client: 'alice', credential });
  const alice = new TestClient(service.url, 'alice');
  await until(async () => (await alice.get(SERVICE_DOCUMENT)).status === 200);
  t.is((await alice.get(SERVICE_DOCUMENT)).status, 200);
  t.is((await new TestClient(service.url, 'alice', 'Secret').get(SERVICE_DOCUMENT)).status, 401);
  const events: [string, unknown, boolean][] = [];
  for await (const { type, data, metadata } of service.service.log.readStream('client-alice')) {
    const { credential: kept } = data as Extract<ClientEvent, { type: 'CredentialChanged' }>['data']; // both have one
    events.push([type, metadata['actor'], needsRehash(kept)]);
  }
  t.deepEqual(events, [
    ['ClientRegistered', { kind: 'operator', name: 'test' }, true],
    ['CredentialChanged', { kind: 'service', name: 'login' }, false],
  ]);
});

test('a rehash does not overwrite a password that was changed meanwhile', async (t) => {
  const log = new MemoryEventLog();
  const administration = new AdminCommands(log, { kind: 'service', name: 'login' });
  await administration.client({
    type: 'RegisterClient',
    client: 'alice',
    credential: cheapCredential('old'),
  });
  await administration.client({
    type: 'ChangeCredential',
    client: 'alice',
    credential: cheapCredential('new'),
  });
  await administration.client({ type: 'DisableClient', client: 'alice' });
  const types = async (): Promise<string[]> =>
    (await Array.fromAsync(log.readStream('client-alice'))).map(({ type }) => type);
  const before = await types();
  await administration.renewPassword('alice', await quickCredentialOf('old'), 0);
  t.deepEqual(await types(), before);
  await administration.renewPassword('alice', await quickCredentialOf('new'), 1);
  t.deepEqual(await types(), [...before, 'CredentialChanged'], 'later events do not matter');
});

test('the log line of the configuration contains no secret', (t) => {
  const config = readConfig({
    DEPOSIT_EVENT_LOG: 'esdb://admin:hunter2@db.example:2113?tls=true',
    DEPOSIT_ARCHIVE_STORE: 's3://minio.example:9000/deposits',
    DEPOSIT_S3_ACCESS_KEY: 'hunter2-access',
    DEPOSIT_S3_SECRET_KEY: 'hunter2-secret',
  });
  let written = '';
  const logger = createLogger('info', { write: (line) => void (written += line) });
  logger.info({ config, ...config, password: 'hunter2', headers: { authorization: 'Basic hunter2' } }, 'all');
  t.regex(written, /"bucket":"deposits"/);
  t.notRegex(written, /hunter2/);
});

test('log lines of one turn are written together, also before an exit', async (t) => {
  const logger = path.join(import.meta.dirname, '../../src/tools/logger.ts');
  const program = `
    const { createLogger } = await import(${JSON.stringify(logger)});
    const { info, error } = createLogger('info');
    info({ stream: 'deposit-1' }, 'event');
    error({}, 'fault');
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    info({ stream: 'deposit-2' }, 'event');
    process.exit(3);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  const writes: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => writes.push(String(chunk)));
  t.deepEqual(await once(child, 'close'), [3, null]);
  const lines = writes.join('').trimEnd().split('\n');
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  t.deepEqual(
    logged.map(({ level, stream, msg }) => [level, stream, msg]),
    [
      ['info', 'deposit-1', 'event'],
      ['error', undefined, 'fault'],
      ['info', 'deposit-2', 'event'],
    ],
  );
  t.true(writes[0]?.includes('fault'), 'both lines of the first turn');
});

test('log lines that cannot be written are dropped, also those before an exit', async (t) => {
  const logger = path.join(import.meta.dirname, '../../src/tools/logger.ts');
  const program = `
    const { createLogger } = await import(${JSON.stringify(logger)});
    const { info } = createLogger('info');
    info({}, 'event');
    await new Promise((resolve) => setTimeout(resolve, 200));
    info({}, 'event');
    process.exit(3);`;
  await using full = await open('/dev/full', 'w'); // every write to it fails, as on a full disk
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', full.fd, 'inherit'],
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  t.deepEqual(await once(child, 'close'), [3, null]);
});

test('the data folder is private to its owner, and commands need the token in it', async (t) => {
  const above = await temporaryFolder(t);
  const folder = path.join(above, 'data');
  const running = await RunningService.startIn(folder);
  t.teardown(() => running.stop());
  const modeOf = async (...names: string[]): Promise<number> =>
    (await stat(path.join(folder, ...names))).mode & 0o777;
  t.is(await modeOf(), 0o700);
  t.is(await modeOf('archives'), 0o700);
  t.is(await modeOf('operator.json'), 0o600);
  const { url, token } = JSON.parse(await readFile(path.join(folder, 'operator.json'), 'utf8')) as Record<
    string,
    string
  >;
  const asked = (headers: Record<string, string>): Promise<Response> => fetch(`${url}/state`, { headers });
  t.is((await asked({ Authorization: `Bearer ${token}` })).status, 200);
  for (const headers of [{}, { Authorization: 'Bearer ' }, { Authorization: `Bearer ${'x'.repeat(43)}` }]) {
    t.is((await asked(headers)).status, 401);
  }
  t.is((await fetch(`${url}/views`, { method: 'POST', body: '{}' })).status, 401);
});

test('an uncaught exception is logged, and the service shuts down and exits with 1', async (t) => {
  const folder = await temporaryFolder(t);
  const [main, hook] = ['../../src/main.ts', '../../testing/service/throw-on-sigusr2.ts'].map((file) =>
    path.join(import.meta.dirname, file),
  ) as [string, string];
  const child = spawn(process.execPath, ['--import', hook, main], {
    env: {
      ...process.env,
      DEPOSIT_DATA_DIR: folder,
      DEPOSIT_PORT: '0',
      DEPOSIT_TRUST_PROXY: 'true',
      DEPOSIT_BASE_URL: 'https://deposit.example/swh',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const [said, saidToPeople] = [text(child.stdout), text(child.stderr)];
  const url = await new Promise<string>((resolve, reject) => {
    let begin = '';
    child.stdout.on('data', (chunk: Buffer) => {
      begin += chunk.toString();
      const [, found] = /"url":"(http:[^"]+)".*"msg":"ready"/.exec(begin) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(begin)));
  });
  t.is((await fetch(`${url}/health/ready`)).status, 200);
  const exited = once(child, 'exit');
  child.kill('SIGUSR2');
  t.deepEqual(await exited, [1, null]);
  await t.throwsAsync(fetch(`${url}/health/ready`));
  t.true((await saidToPeople).includes(`listens at ${url}, for clients https://deposit.example/swh/1/`));
  t.notRegex(await saidToPeople, /A client "demo"/, 'behind a proxy only registered clients are accepted');
  const lines = (await said).split('\n').filter((line) => line.includes('uncaught exception'));
  t.is(lines.length, 1);
  t.like(JSON.parse(lines[0] ?? ''), { level: 'error', origin: 'uncaughtException' });
  t.regex(lines[0] ?? '', /this exception is never caught/);
});

test('no trial client is registered if the service is reachable from other machines', async (t) => {
  await using log = new MemoryEventLog();
  const proxied = readConfig({ DEPOSIT_TRUST_PROXY: 'true' });
  await printWelcome({ url: 'http://127.0.0.1:8080', log }, proxied);
  await printWelcome({ url: 'https://192.0.2.1:8080', log }, readConfig({}));
  t.is(await log.head(), undefined);
});
