import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { BadConfig, describeSettings, readConfig } from '../src/config.ts';
import { SETTINGS } from '../src/settings.ts';

test('without settings everything is embedded, below ./data, on loopback', (t) => {
  const config = readConfig({});
  t.like(config, {
    host: '127.0.0.1',
    port: 8080,
    baseUrl: null,
    maxUploadSize: 20_971_520,
    maxEntrySize: 1_048_576,
  });
  t.deepEqual(config.eventLog, { kind: 'sqlite', file: path.resolve('data/event-log.sqlite') });
  t.deepEqual(config.archiveStore, { kind: 'file', folder: path.resolve('data/archives') });
});

test('every problem is reported at once, with the setting and what it must be', (t) => {
  const env = {
    DEPOSIT_PORT: '99999',
    DEPOSIT_BASE_URL: 'ftp://x',
    DEPOSIT_MAX_UPLOAD_SIZE: '20MB',
    DEPOSIT_LOG_LEVEL: 'loud',
    DEPOSIT_REF_ID_ALIASES: 'maybe',
    DEPOSIT_EVENT_LOG: 'postgres://x',
    DEPOSIT_LOADER_IDENTITY: 'nobody',
    DEPOSIT_HOST: '0.0.0.0',
    DEPOSIT_ROLES: 'http,cook',
    DEPOSIT_PROT: '1',
  };
  const error = t.throws(() => readConfig(env), { instanceOf: BadConfig });
  t.is(error?.problems.length, 10);
  for (const [name, value] of Object.entries(env)) {
    if (name === 'DEPOSIT_PROT') t.regex(error?.message ?? '', /DEPOSIT_PROT: no setting has this name/);
    else t.true(error?.message.includes(`${name}=${value}: `), name);
  }
});

test('the README names every setting', async (t) => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const names = Object.keys(SETTINGS).filter(
    (name) => !name.endsWith('_FILE') || name === 'DEPOSIT_ANCHOR_FILE',
  );
  t.deepEqual(
    names.filter((name) => !readme.includes(name)),
    [],
  );
});

test('a node may take one role alone only where others share its log', (t) => {
  t.deepEqual(readConfig({}).roles, ['http', 'reactors']);
  const eventLog = { DEPOSIT_EVENT_LOG: 'esdb://127.0.0.1:2113?tls=false' };
  t.deepEqual(readConfig({ DEPOSIT_ROLES: 'reactors', ...eventLog }).roles, ['reactors']);
  t.throws(() => readConfig({ DEPOSIT_ROLES: 'http' }), { message: /DEPOSIT_ROLES=http: .* has to do both/ });
});

test('other addresses than loopback need TLS or a proxy that ends it', (t) => {
  for (const host of ['0.0.0.0', '::', '192.0.2.1', '127.0.0.1.example.org', 'localhost.example.org']) {
    const message = /passwords would travel in clear: set DEPOSIT_TLS_CERT .* or DEPOSIT_TRUST_PROXY=true/;
    t.throws(() => readConfig({ DEPOSIT_HOST: host }), { message }, host);
  }
  for (const host of ['127.0.0.1', '::1', 'localhost']) t.is(readConfig({ DEPOSIT_HOST: host }).host, host);
  t.is(readConfig({ DEPOSIT_HOST: '0.0.0.0', DEPOSIT_TRUST_PROXY: 'true' }).trustProxy, true);
  const [cert, key] = [import.meta.filename, import.meta.filename]; // any file that can be read
  t.deepEqual(readConfig({ DEPOSIT_HOST: '::', DEPOSIT_TLS_CERT: cert, DEPOSIT_TLS_KEY: key }).tls, {
    cert,
    key,
  });
  t.throws(() => readConfig({ DEPOSIT_TLS_CERT: cert }), {
    message: /DEPOSIT_TLS_KEY is not: TLS needs both/,
  });
  t.throws(() => readConfig({ DEPOSIT_TLS_CERT: '/nowhere', DEPOSIT_TLS_KEY: key }), { message: /ENOENT/ });
});

test('what is printed of a wrong address of an engine holds no password', (t) => {
  const wrong = [
    { DEPOSIT_EVENT_LOG: 'postgres://admin:hunter2@host' },
    { DEPOSIT_EVENT_LOG: 'esbd://admin:hunter2/with@odd#ends@host:2113' },
    { DEPOSIT_EVENT_LOG: 'admin:hunter2@host:2113' },
    { DEPOSIT_ARCHIVE_STORE: 's3://key:hunter2@host/bucket' },
    { DEPOSIT_ARCHIVE_STORE: 's3://key:hun/ter2@host/bucket' },
  ];
  for (const env of wrong) {
    const error = t.throws(() => readConfig(env), { instanceOf: BadConfig });
    t.notRegex(error?.message ?? '', /hun|ter2|odd/);
    t.regex(error?.message ?? '', /=([a-z0-9]+:\/\/)?…@host/);
  }
});

test('the connection string of the event log comes from a file, too', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'secrets-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'event-log');
  await writeFile(file, 'esdb://admin:secret@db.example:2113?tls=true\n');
  t.deepEqual(readConfig({ DEPOSIT_EVENT_LOG_FILE: file }).eventLog, {
    kind: 'eventstoredb',
    connectionString: 'esdb://admin:secret@db.example:2113?tls=true',
  });
  await writeFile(file, 'hunter2');
  const error = t.throws(() => readConfig({ DEPOSIT_EVENT_LOG_FILE: file }), { instanceOf: BadConfig });
  t.notRegex(error?.message ?? '', /hunter2/);
});

test('the help names every setting', (t) => {
  const named = describeSettings();
  for (const name of ['DEPOSIT_HOST', 'DEPOSIT_MAX_MEMBERS', 'DEPOSIT_LOADER_IDENTITY', 'DEPOSIT_TLS_KEY']) {
    t.true(named.includes(`${name}=`), name);
  }
});

test('an S3 store is named by its URL, and its keys come from settings or files, never from the URL', async (t) => {
  const url = 's3://minio.example:9000/deposits/team?tls=false&region=eu-1';
  const folder = await mkdtemp(path.join(tmpdir(), 'secrets-'));
  await writeFile(path.join(folder, 'key'), 'from-a-file\n');
  const keys = { DEPOSIT_S3_ACCESS_KEY: 'access', DEPOSIT_S3_SECRET_KEY_FILE: path.join(folder, 'key') };
  t.deepEqual(readConfig({ DEPOSIT_ARCHIVE_STORE: url, ...keys }).archiveStore, {
    kind: 's3',
    endpoint: { host: 'minio.example', port: 9000, tls: false },
    bucket: 'deposits',
    region: 'eu-1',
    prefix: 'team/',
    accessKey: 'access',
    secretKey: 'from-a-file',
  });
  t.throws(() => readConfig({ DEPOSIT_ARCHIVE_STORE: url }), { message: /needs DEPOSIT_S3_ACCESS_KEY/ });
  for (const name of ['DEPOSIT_MAX_UPLOAD_SIZE', 'DEPOSIT_MAX_RESUMABLE_SIZE']) {
    const keys = { DEPOSIT_S3_ACCESS_KEY: 'a', DEPOSIT_S3_SECRET_KEY: 'b' };
    const upTo = (size: number) =>
      readConfig({ ...keys, DEPOSIT_ARCHIVE_STORE: url, [name]: String(size * 1024 ** 3) });
    t.notThrows(() => upTo(5));
    t.throws(() => upTo(10), {
      message: new RegExp(`${name}=\\d+: an S3 store takes archives of 5368709120`),
    });
  }
  for (const wrong of ['s3://', 's3://host', 's3://a:b@host/bucket', 's3://host/B', 'ftp://x']) {
    t.throws(() => readConfig({ DEPOSIT_ARCHIVE_STORE: wrong, ...keys }), { instanceOf: BadConfig }, wrong);
  }
});
