import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { BadConfig, describeSettings, readConfig, readServiceConfig } from '../../src/config/read-config.ts';
import { parseS3Url } from '../../src/config/s3-url.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { EventLogUnavailable } from '../../src/event-log/event-log.ts';
import { BadConnection, credentialsOf } from '../../src/event-log/eventstoredb/settings.ts';
import { Server } from '../../src/http/server/server.ts';
import { logIdentity } from '../../src/service/backends/engine-places.ts';
import {
  assertTlsFiles,
  listenFault,
  logFault,
  makeDataFolder,
} from '../../src/service/process/start-errors.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { CERTIFICATE } from '../../testing/service/tls-files.ts';

test('without settings both engines are embedded, below ./data, on loopback', (t) => {
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

test('all problems are reported at once, with the setting and its valid values', (t) => {
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
  const error = t.throws(() => readServiceConfig(env), { instanceOf: BadConfig });
  t.is(error?.problems.length, 10);
  for (const [name, value] of Object.entries(env)) {
    if (name === 'DEPOSIT_PROT') t.regex(error?.message ?? '', /DEPOSIT_PROT: unknown setting/);
    else t.true(error?.message.includes(`${name}=${value}: `), name);
  }
});

test('no time limit is longer than a timer can count', (t) => {
  const names = ['DEPOSIT_HEADERS_TIME', 'DEPOSIT_BODY_TIME', 'DEPOSIT_BODY_PAUSE', 'DEPOSIT_CHECK_TIME'];
  for (const name of names) {
    const read = (ms: number) => readConfig({ [name]: String(ms) });
    t.notThrows(() => read(86_400_000), name);
    t.throws(() => read(2 ** 31), { message: /must be a whole number from 1000 to 86400000/ }, name);
  }
  const slowest = readConfig({
    DEPOSIT_BODY_TIME: '86400000',
    DEPOSIT_BODY_RATE: '10',
    DEPOSIT_MAX_ENTRY_SIZE: String(16 * 1024 ** 2),
  });
  const { bodyTimeouts, maxEntrySize } = slowest;
  t.true(bodyTimeouts.base + maxEntrySize / bodyTimeouts.bytesPerMs < 2 ** 31);
});

test('the settings page lists every setting with its default', async (t) => {
  const page = await readFile(new URL('../../docs/settings.md', import.meta.url), 'utf8');
  const rows = page.split('\n').map((row) => row.split(' | '));
  const shown = Object.entries(SETTINGS).filter(
    ([name]) => !name.endsWith('_FILE') || name === 'DEPOSIT_ANCHOR_FILE',
  );
  for (const [name, { fallback }] of shown) {
    const [names, defaults] = rows.find(([first = '']) => first.includes(`\`${name}\``)) ?? [];
    t.true(names !== undefined, name);
    if (/^[\w./:]+$/.test(fallback)) t.true(defaults?.includes(`\`${fallback}\``), `${name}: ${defaults}`);
  }
});

test('a node may have one role only if its log is shared with others', (t) => {
  t.deepEqual(readConfig({}).roles, ['http', 'reactors']);
  const eventLog = { DEPOSIT_EVENT_LOG: 'esdb://127.0.0.1:2113?tls=false' };
  t.deepEqual(readConfig({ DEPOSIT_ROLES: 'reactors', ...eventLog }).roles, ['reactors']);
  t.throws(() => readConfig({ DEPOSIT_ROLES: 'http' }), {
    message: /DEPOSIT_ROLES=http: .* needs both roles/,
  });
});

test('an event log is selected by either URL scheme of the server', (t) => {
  for (const scheme of ['esdb', 'esdb+discover', 'kurrentdb', 'kurrentdb+discover']) {
    const { eventLog } = readConfig({ DEPOSIT_EVENT_LOG: `${scheme}://db.example:2113?tls=false` });
    const connectionString = `${scheme.replace('kurrentdb', 'esdb')}://db.example:2113?tls=false`;
    t.like(eventLog, { kind: 'eventstoredb', connectionString });
  }
});

test('addresses other than loopback need TLS or a proxy that terminates it', (t) => {
  for (const host of ['0.0.0.0', '::', '192.0.2.1', '127.0.0.1.example.org', 'localhost.example.org']) {
    const message =
      /passwords would be sent unencrypted: set DEPOSIT_TLS_CERT .* or DEPOSIT_TRUST_PROXY=true/;
    t.throws(() => readServiceConfig({ DEPOSIT_HOST: host }), { message }, host);
  }
  for (const host of ['127.0.0.1', '::1', 'localhost'])
    t.is(readServiceConfig({ DEPOSIT_HOST: host }).host, host);
  t.is(readServiceConfig({ DEPOSIT_HOST: '0.0.0.0', DEPOSIT_TRUST_PROXY: 'true' }).trustProxy, true);
  const [cert, key] = [import.meta.filename, import.meta.filename]; // any readable file
  t.deepEqual(readServiceConfig({ DEPOSIT_HOST: '::', DEPOSIT_TLS_CERT: cert, DEPOSIT_TLS_KEY: key }).tls, {
    cert,
    key,
  });
  t.throws(() => readServiceConfig({ DEPOSIT_TLS_CERT: cert }), {
    message: /DEPOSIT_TLS_KEY is not: TLS needs both/,
  });
  t.throws(() => readServiceConfig({ DEPOSIT_TLS_CERT: '/nowhere', DEPOSIT_TLS_KEY: key }), {
    message: /\n- DEPOSIT_TLS_CERT: \/nowhere cannot be read: no such file or directory \(ENOENT\)\.$/m,
  });
});

test('a setting that cannot be read is reported once, without consequential problems', (t) => {
  const key = import.meta.filename; // any readable file
  const s3 = { DEPOSIT_ARCHIVE_STORE: 's3://127.0.0.1:9000/deposits?tls=false', DEPOSIT_S3_SECRET_KEY: 's' };
  const unread: readonly Record<string, string>[] = [
    { DEPOSIT_TLS_CERT: '/nowhere', DEPOSIT_TLS_KEY: key, DEPOSIT_HOST: '0.0.0.0' },
    { DEPOSIT_TRUST_PROXY: 'perhaps', DEPOSIT_HOST: '0.0.0.0' },
    { DEPOSIT_OPERATOR_TRUST_NETWORK: 'perhaps', DEPOSIT_OPERATOR_HOST: '0.0.0.0' },
    { DEPOSIT_EVENT_LOG: 'postgres://x', DEPOSIT_ROLES: 'http' },
    { DEPOSIT_EVENT_LOG_FILE: '/nowhere', DEPOSIT_ROLES: 'http' },
    { DEPOSIT_S3_ACCESS_KEY_FILE: '/nowhere', ...s3 },
  ];
  for (const [index, settings] of unread.entries()) {
    const error = t.throws(() => readServiceConfig(settings), { instanceOf: BadConfig });
    t.is(error?.problems.length, 1, `${index}: ${error?.message}`);
  }
  const ports = { DEPOSIT_PORT: 'x', DEPOSIT_OPERATOR_PORT: 'x', DEPOSIT_OPERATOR_HOST: '127.0.0.1' };
  t.is(t.throws(() => readServiceConfig(ports), { instanceOf: BadConfig })?.problems.length, 2);
  t.throws(() => readServiceConfig({ DEPOSIT_TLS_CERT: '/nowhere' }), { message: /DEPOSIT_TLS_KEY is not/ });
});

test('the operator port, which has neither TLS nor a proxy, is open to other hosts only if set explicitly', (t) => {
  const settings = { DEPOSIT_OPERATOR_HOST: '0.0.0.0', DEPOSIT_TRUST_PROXY: 'true' };
  t.throws(() => readServiceConfig(settings), {
    message: /DEPOSIT_OPERATOR_HOST=0\.0\.0\.0: .* set DEPOSIT_OPERATOR_TRUST_NETWORK=true/,
  });
  t.is(readServiceConfig({ ...settings, DEPOSIT_OPERATOR_TRUST_NETWORK: 'true' }).operatorHost, '0.0.0.0');
  t.throws(() => readServiceConfig({ DEPOSIT_PORT: '8081', DEPOSIT_OPERATOR_PORT: '8081' }), {
    message: /DEPOSIT_OPERATOR_PORT=8081: DEPOSIT_PORT is the same/,
  });
});

test('the base URL has no trailing slash, and nothing that no path could follow', (t) => {
  const read = (url: string) => readConfig({ DEPOSIT_BASE_URL: url }).baseUrl;
  t.is(read('https://deposit.example/'), 'https://deposit.example');
  t.is(read('https://deposit.example/swh//'), 'https://deposit.example/swh');
  for (const wrong of [
    'https://deposit.example/?a=1',
    'https://deposit.example/#a',
    'https://a@deposit.example/',
    'https://:b@deposit.example/',
  ])
    t.throws(() => read(wrong), { message: /and perhaps a path, without credentials/ }, wrong);
});

test('an EventStoreDB password that is invalid in a URL is refused without being printed', (t) => {
  const error = t.throws(() => credentialsOf({ connectionString: 'esdb://u:p%zz@127.0.0.1:1?tls=true' }), {
    instanceOf: BadConnection,
  });
  t.regex(error?.message ?? '', /^DEPOSIT_EVENT_LOG: .* write %25 for it\.$/);
  t.notRegex(error?.message ?? '', /zz/);
});

test('an EventStoreDB password may have a slash, and no part of it is printed', (t) => {
  const connectionString = 'esdb://u:p/w@127.0.0.1:1,127.0.0.1:2?tls=true';
  t.deepEqual(credentialsOf({ connectionString }), { username: 'u', password: 'p/w' });
  const identity = logIdentity({ kind: 'eventstoredb', connectionString });
  t.is(identity, 'eventstoredb 127.0.0.1:1,127.0.0.1:2');
  const others = [
    'u:p@127.0.0.1:1?connectionName=a@b',
    'u:p@w@127.0.0.1:1?tls=true',
    '127.0.0.1:1/?tls=false',
  ];
  for (const other of others)
    t.is(
      logIdentity({ kind: 'eventstoredb', connectionString: `esdb://${other}` }),
      'eventstoredb 127.0.0.1:1',
    );
  for (const tls of ['true', 'false'])
    t.throws(() => credentialsOf({ connectionString: `esdb://u:p@w@127.0.0.1:1?tls=${tls}` }), {
      instanceOf: BadConnection,
      message: 'DEPOSIT_EVENT_LOG: the user name or the password has an @: write %40 for it.',
    });
});

test('the reason why a service cannot listen is one sentence with the setting, transient or permanent', async (t) => {
  const { promise: listens, resolve } = Promise.withResolvers<void>();
  const other = net.createServer().listen(0, '127.0.0.1', resolve);
  t.teardown(() => other.close());
  await listens;
  const { port } = other.address() as net.AddressInfo; // it listens on TCP
  const faultOf = async (settings: Record<string, string>, where: 'host' | 'operatorHost') => {
    const config = readConfig({ DEPOSIT_PORT: '0', DEPOSIT_TRUST_PROXY: 'true', ...settings });
    const at =
      where === 'host' ? config : { ...config, host: config.operatorHost, port: config.operatorPort };
    return listenFault(await t.throwsAsync(Server.listen(at)), config);
  };
  const taken = await faultOf({ DEPOSIT_PORT: String(port) }, 'host');
  t.like(taken, { code: 'CANNOT_LISTEN' });
  t.regex(taken?.message ?? '', new RegExp(`^DEPOSIT_PORT=${port}: another process listens there`));
  const operators = await faultOf({ DEPOSIT_OPERATOR_PORT: String(port) }, 'operatorHost');
  t.regex(operators?.message ?? '', new RegExp(`^DEPOSIT_OPERATOR_PORT=${port}: another process`));
  const foreign = await faultOf({ DEPOSIT_HOST: '192.0.2.1' }, 'host');
  t.like(foreign, {
    code: 'BAD_CONFIG',
    problems: ['DEPOSIT_HOST=192.0.2.1: this machine has no such address'],
  });
  const noAddress = await faultOf({ DEPOSIT_HOST: '256.1.1.1' }, 'host');
  t.regex(noAddress?.message ?? '', /DEPOSIT_HOST=256\.1\.1\.1: /); // without a name server it might pass
  t.is(listenFault(new Error('another'), readConfig({})), undefined);
});

test('a start that fails on EventStoreDB names its servers and no password', (t) => {
  const config = readConfig({
    DEPOSIT_EVENT_LOG: 'esdb://rosa:hunter2@db.example:2113,db2.example:2113?tls=true',
  });
  const away = new EventLogUnavailable('Reading the last event failed: the server cannot be reached.');
  const fault = logFault(away, config);
  t.is(fault?.message, `DEPOSIT_EVENT_LOG (eventstoredb db.example:2113,db2.example:2113): ${away.message}`);
  t.like(fault, { code: 'EVENT_LOG_UNAVAILABLE', cause: away });
  t.is(logFault(away, readConfig({})), undefined, 'an embedded log has a file name');
  t.is(logFault(new Error('another'), config), undefined);
});

test('invalid TLS files, and a key of another certificate, are named before the service starts', async (t) => {
  const folder = await temporaryFolder(t);
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const write = async (name: string, text: string | Buffer) => {
    const file = path.join(folder, name);
    await writeFile(file, text);
    return file;
  };
  const cert = await write('cert.pem', CERTIFICATE);
  const key = await write('key.pem', other.export({ type: 'pkcs8', format: 'pem' }));
  const check = (certFile: string, keyFile: string) => () =>
    assertTlsFiles(readConfig({ DEPOSIT_TLS_CERT: certFile, DEPOSIT_TLS_KEY: keyFile }));
  t.throws(check(key, cert), {
    instanceOf: BadConfig,
    message:
      /DEPOSIT_TLS_CERT=.*key\.pem: it is not a certificate.*\n- DEPOSIT_TLS_KEY=.*cert\.pem: it is not a private key/,
  });
  t.throws(check(cert, key), { message: /DEPOSIT_TLS_KEY=.*: it is not the key of DEPOSIT_TLS_CERT=/ });
});

test('a data folder is created with its parents, and one that cannot be created is an invalid setting', async (t) => {
  const folder = await temporaryFolder(t);
  const dataDir = path.join(folder, 'a', 'b');
  const make = (place: string) => makeDataFolder({ ...readConfig({}), dataDir: place });
  make(dataDir);
  make(dataDir);
  t.is((await stat(dataDir)).mode & 0o777, 0o700);
  await writeFile(path.join(folder, 'file'), '');
  for (const place of ['file', 'file/x']) {
    const message = /DEPOSIT_DATA_DIR=.*: the folder cannot be created \(E/;
    t.throws(() => make(path.join(folder, place)), { instanceOf: BadConfig, message }, place);
  }
  if (existsSync('/proc')) t.throws(() => make('/proc/deposits'), { instanceOf: BadConfig }); // for ever, by Node's own
});

test('a data folder is refused if SQLite could not open the databases in it', async (t) => {
  const folderOf = (bytes: number): string => `/${'ä'.repeat(100)}/`.padEnd(bytes - 100, 'x');
  t.is(readConfig({ DEPOSIT_DATA_DIR: folderOf(476) }).dataDir, folderOf(476));
  const error = t.throws(() => readConfig({ DEPOSIT_DATA_DIR: folderOf(477) }), { instanceOf: BadConfig });
  t.regex(
    error?.message ?? '',
    /DEPOSIT_DATA_DIR=\/ä+\/x+: must be a path of at most 476 bytes, not 477: SQLite opens no file with more than 504$/,
  );
  const base = await temporaryFolder(t);
  const openAt = async (bytes: number): Promise<void> => {
    const rest = bytes - base.length - '/x.sqlite'.length;
    const folder = path.join(base, 'y'.repeat(230), 'z'.repeat(rest - 232));
    await mkdir(folder, { recursive: true });
    new DatabaseSync(path.join(folder, 'x.sqlite')).close();
  };
  await t.notThrowsAsync(openAt(504));
  await t.throwsAsync(openAt(505), { message: 'unable to open database file' });
});

test('the error for an invalid address of an engine contains no password', (t) => {
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

test('a setting with a secret in the wrong place is reported without it', (t) => {
  const opened = /_FILE: the file cannot be opened: .*ENOENT/;
  const asked = /=s3:\/\/host\/bucket\?…: accepts tls and region after the \?, not/;
  for (const [env, message] of [
    [{ DEPOSIT_EVENT_LOG_FILE: 'esdb://admin:hunter2@host:2113' }, opened],
    [{ DEPOSIT_S3_ACCESS_KEY_FILE: 'hunter2' }, opened],
    [{ DEPOSIT_S3_SECRET_KEY_FILE: 'hunter2' }, opened],
    [{ DEPOSIT_ARCHIVE_STORE: 's3://host/bucket?secret=hunter2' }, asked],
    [{ DEPOSIT_ARCHIVE_STORE: 's3://host/bucket?hunter2' }, asked],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'ht!tp://admin:hunter2@host' }, /_ENDPOINT: .* not a URL/],
  ] as const) {
    const error = t.throws(() => readConfig(env), { instanceOf: BadConfig });
    t.notRegex(error?.message ?? '', /hunter2/);
    t.regex(error?.message ?? '', message);
  }
});

test('the connection string of the event log may be read from a file', async (t) => {
  const folder = await temporaryFolder(t);
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

test('an empty secret file is refused, and does not select the embedded log', async (t) => {
  const file = path.join(await temporaryFolder(t), 'secret');
  await writeFile(file, '\n');
  for (const name of ['DEPOSIT_EVENT_LOG_FILE', 'DEPOSIT_S3_ACCESS_KEY_FILE', 'DEPOSIT_S3_SECRET_KEY_FILE'])
    t.throws(() => readConfig({ [name]: file }), {
      message: new RegExp(`${name}=.*: the file is empty`),
    });
});

test('the help lists every setting, numbers with their limits', (t) => {
  const named = describeSettings();
  for (const name of ['DEPOSIT_HOST', 'DEPOSIT_MAX_MEMBERS', 'DEPOSIT_LOADER_IDENTITY', 'DEPOSIT_TLS_KEY']) {
    t.true(named.includes(`${name}=`), name);
  }
  t.regex(named, /DEPOSIT_MAX_ARCHIVES=32 .* \(1 to 1000\)/);
  t.regex(named, /DEPOSIT_MAX_UPLOAD_SIZE=20971520 .* \(at least 1\)/);
});

test('an S3 store is configured by its URL, and its keys by settings or files, never by the URL', async (t) => {
  const url = 's3://minio.example:9000/deposits/team?tls=false&region=eu-1';
  const folder = await temporaryFolder(t);
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
  const durable = (text?: string) =>
    readConfig(text === undefined ? {} : { DEPOSIT_S3_DURABLE: text }).s3Durable;
  t.deepEqual([durable(), durable('yes'), durable('no')], [null, true, false]);
  t.throws(() => durable('maybe'), { message: /DEPOSIT_S3_DURABLE=maybe: must be true or false/ });
  for (const name of ['DEPOSIT_MAX_UPLOAD_SIZE', 'DEPOSIT_MAX_RESUMABLE_SIZE']) {
    const keys = { DEPOSIT_S3_ACCESS_KEY: 'a', DEPOSIT_S3_SECRET_KEY: 'b' };
    const upTo = (size: number) =>
      readConfig({ ...keys, DEPOSIT_ARCHIVE_STORE: url, [name]: String(size * 1024 ** 3) });
    t.notThrows(() => upTo(5));
    t.throws(() => upTo(10), {
      message: new RegExp(`${name}=\\d+: an S3 store accepts archives of at most 5368709120`),
    });
  }
  t.throws(() => readConfig({ DEPOSIT_ARCHIVE_STORE: 's3://host/bucket?tsl=false', ...keys }), {
    message: /accepts tls and region after the \?, not tsl/,
  });
  t.throws(() => readConfig({ DEPOSIT_ARCHIVE_STORE: 's3://host/my_bucket', ...keys }), {
    message: /its bucket must have 3 to 63 characters of a-z 0-9 \. -/,
  });
  const prefixed = (prefix: string) =>
    readConfig({ DEPOSIT_ARCHIVE_STORE: `s3://host/bucket/${prefix}`, ...keys }).archiveStore;
  for (const prefix of ['incoming', 'team/incoming/', 'incoming/team'])
    t.throws(() => prefixed(prefix), { message: /prefix must not have a segment named incoming/ });
  t.like(prefixed('v1/incoming-2'), { prefix: 'v1/incoming-2/' });
  for (const bucket of ['dep..osits', '192.168.1.1', 'a.-b', 'a-.b', '-ab', 'ab.', 'ab', 'a'.repeat(64)])
    t.throws(() => parseS3Url(`s3://host/${bucket}`), { message: /its bucket must have 3 to 63/ }, bucket);
  for (const bucket of ['a-b.c--d.1', '192.168.1.1.a', '192.168.1', 'a'.repeat(63)])
    t.is(parseS3Url(`s3://host/${bucket}`).bucket, bucket);
  for (const wrong of ['s3://', 's3://host', 's3://a:b@host/bucket', 's3://host/B', 'ftp://x']) {
    t.throws(() => readConfig({ DEPOSIT_ARCHIVE_STORE: wrong, ...keys }), { instanceOf: BadConfig }, wrong);
  }
});
