import { defaultArchiveLimits } from '../archives/archive-reader.ts';
import { DEFAULT_DEPOSIT_NAMESPACE } from '../sword/namespaces.ts';
import { DEFAULT_DATA_DIR } from './data-folder.ts';
import {
  archiveStore,
  baseUrl,
  boolean,
  dataFolder,
  eventLog,
  identity,
  integer,
  oneOf,
  optionalBoolean,
  optionalFile,
  optionalName,
  readableFile,
  roles,
  secretIn,
  url,
} from './parsers.ts';

type SettingName = keyof typeof SETTINGS;
type Setting<Value> = {
  readonly fallback: string;
  readonly help: string;
  readonly parse: (text: string) => Value;
};

const MIB = 1024 ** 2;
/** In milliseconds. Node's timers support at most 24 days; a longer delay fires at once. */
const DAY_MS = 86_400_000;
const limits = defaultArchiveLimits;

/** All settings, each with its default, its meaning and its parser. */
export const SETTINGS = {
  DEPOSIT_HOST: setting('127.0.0.1', 'address to listen on', String),
  DEPOSIT_PORT: number('8080', 'port to listen on; 0 picks a free one and prints it', 0, 65_535),
  DEPOSIT_BASE_URL: setting('', 'public address in every IRI; default: the listening address', baseUrl),
  DEPOSIT_DATA_DIR: setting(
    DEFAULT_DATA_DIR,
    'folder for everything that is stored on this machine',
    dataFolder,
  ),
  DEPOSIT_ROLES: setting(
    'http,reactors',
    'what this node does: serve clients, check and load, or both',
    roles,
  ),
  DEPOSIT_EVENT_LOG: setting(
    '',
    'sqlite:<file>, esdb://… or kurrentdb://…; default: event-log.sqlite in the data folder',
    eventLog,
  ),
  DEPOSIT_EVENT_LOG_FILE: setting('', 'file that holds DEPOSIT_EVENT_LOG instead', (file) =>
    eventLog(secretIn(file)),
  ),
  DEPOSIT_ARCHIVE_STORE: setting(
    '',
    'file:<folder>, or s3://<host>:<port>/<bucket>?tls=true&region=…; default: archives in the data folder',
    archiveStore,
  ),
  DEPOSIT_S3_ACCESS_KEY: setting('', 'access key of the S3 store', String),
  DEPOSIT_S3_ACCESS_KEY_FILE: setting('', 'file that holds DEPOSIT_S3_ACCESS_KEY instead', secretIn),
  DEPOSIT_S3_SECRET_KEY: setting('', 'secret key of the S3 store', String),
  DEPOSIT_S3_SECRET_KEY_FILE: setting('', 'file that holds DEPOSIT_S3_SECRET_KEY instead', secretIn),
  DEPOSIT_VIEW_SNAPSHOT_SIZE: number(
    String(32 * MIB),
    'bytes of the views from which on a node stores a snapshot of them daily, with which new nodes begin; 0 disables snapshots',
    0,
  ),
  DEPOSIT_S3_DURABLE: setting(
    '',
    'true or false: whether acknowledged objects of the S3 store survive a power cut; default: unknown',
    optionalBoolean,
  ),
  DEPOSIT_MAX_UPLOAD_SIZE: number(String(20 * MIB), 'bytes of one archive', 1),
  DEPOSIT_MAX_ENTRY_SIZE: number(String(MIB), 'bytes of one metadata entry', 1, 16 * MIB),
  DEPOSIT_MAX_ARCHIVES: number('32', 'archives of one deposit', 1, 1000),
  DEPOSIT_MAX_WRITES: number(
    '256',
    'concurrent writes; one client may use three quarters of those that others leave; beyond that: 503',
    1,
    100_000,
  ),
  DEPOSIT_MAX_PARTS: number('6', 'parts of one multipart body', 1, 1000),
  DEPOSIT_MAX_XML_DEPTH: number('50', 'maximum nesting depth of an entry', 1, 1000),
  DEPOSIT_MAX_XML_ELEMENTS: number('60000', 'elements of an entry', 1),
  DEPOSIT_MAX_XML_ATTRIBUTES: number('100', 'attributes of one element of an entry', 1, 10_000),
  DEPOSIT_MAX_XML_ATTRIBUTE_SIZE: number('65536', 'characters of one attribute', 1),
  DEPOSIT_MAX_HEADERS_SIZE: number('16384', 'bytes of the headers of a request', 1024, MIB),
  DEPOSIT_HEADERS_TIME: number('15000', 'milliseconds for the headers of a request', 1000, DAY_MS),
  DEPOSIT_BODY_TIME: number(
    '30000',
    'milliseconds for a body, in addition to the time for its size',
    1000,
    DAY_MS,
  ),
  DEPOSIT_BODY_RATE: number(
    '16000',
    'minimum upload rate in bytes per second, which gives the time for the size of a body',
    10,
  ),
  DEPOSIT_BODY_PAUSE: number(
    '30000',
    'milliseconds without data after which a body is refused',
    1000,
    DAY_MS,
  ),
  DEPOSIT_MAX_RESUMABLE_SIZE: number(
    String(2 * 1024 * MIB),
    'bytes of one resumable upload (tus); 0 disables them',
    0,
  ),
  DEPOSIT_MAX_OPEN_UPLOADS: number('8', 'open resumable uploads per client', 1, 1000),
  DEPOSIT_MAX_OPEN_UPLOADS_SIZE: number(
    String(32 * 1024 * MIB),
    'bytes of all open resumable uploads of all clients',
    1,
  ),
  DEPOSIT_UPLOAD_EXPIRY: number(
    '24',
    'hours without data after which a resumable upload is removed',
    1,
    8760,
  ),
  DEPOSIT_NAMESPACE: setting(DEFAULT_DEPOSIT_NAMESPACE, 'XML namespace of the deposit elements', url),
  DEPOSIT_REF_ID_ALIASES: setting('true', 'also emit identifiers as deposit_swh_id', boolean),
  DEPOSIT_LOADER_IDENTITY: setting(
    'Deposit Service <deposit@localhost>',
    'author of the revisions',
    identity,
  ),
  DEPOSIT_LOG_LEVEL: setting(
    'info',
    'debug, info, warn, error or silent',
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
  ),
  DEPOSIT_MAX_UNPACKED_SIZE: number(String(limits.unpackedBytes), 'bytes of one archive, unpacked', 1),
  DEPOSIT_MAX_RATIO: number(String(limits.ratio), 'unpacked : packed, of archives above 64 MiB unpacked', 1),
  DEPOSIT_MAX_MEMBERS: number(String(limits.members), 'members of one archive', 1, 1_000_000),
  DEPOSIT_MAX_PATH: number(String(limits.pathBytes), "bytes of a member's path", 1, 65_535),
  DEPOSIT_MAX_DEPTH: number(String(limits.depth), 'folders above a member', 1, 1000),
  DEPOSIT_MAX_NAME: number(String(limits.nameBytes), "bytes of one name in a member's path", 1, 65_535),
  DEPOSIT_MAX_LINK_TARGET: number(String(limits.linkTargetBytes), 'bytes of the target of a link', 1, 65_535),
  DEPOSIT_CHECK_TIME: number(
    String(limits.wallTime),
    'milliseconds to read one archive, plus one for each 4 KiB of it',
    1000,
    DAY_MS,
  ),
  DEPOSIT_STUCK_AFTER: number(
    '900',
    'seconds without a change after which a waiting deposit or an unsent notification counts as stuck; at least twice the longest check',
    1,
    86_400,
  ),
  DEPOSIT_ARCHIVE_WORKERS: number('2', 'threads that read archives', 1, 64),
  DEPOSIT_TRUST_PROXY: setting(
    'false',
    'a proxy in front ends TLS: allows other addresses than loopback',
    boolean,
  ),
  DEPOSIT_OPERATOR_HOST: setting('127.0.0.1', 'address for metrics and commands', String),
  DEPOSIT_OPERATOR_PORT: number('0', 'port for metrics and commands; 0 picks a free one', 0, 65_535),
  DEPOSIT_OPERATOR_TRUST_NETWORK: setting(
    'false',
    'anyone who reaches the operator port may read metrics: allows other addresses than loopback',
    boolean,
  ),
  DEPOSIT_TLS_CERT: setting('', 'PEM file of the certificate chain, to serve https', readableFile),
  DEPOSIT_TLS_KEY: setting('', 'PEM file of the key of DEPOSIT_TLS_CERT', readableFile),
  DEPOSIT_ANCHOR_KEY_FILE: setting(
    '',
    'Ed25519 key that signs anchors, created if missing; default: keys/ in the data folder',
    optionalFile,
  ),
  DEPOSIT_ANCHOR_FILE: setting('', 'file that gets a line for each anchor', optionalFile),
  DEPOSIT_ANCHOR_INTERVAL: number('0', 'minutes between anchors of the log; 0 disables them', 0, 35_000),
  DEPOSIT_WEBHOOK_KEY_FILE: setting(
    '',
    'key that seals the secrets of webhooks, created if missing; default: keys/ in the data folder',
    optionalFile,
  ),
  DEPOSIT_WEBHOOK_ALLOW_PRIVATE: setting(
    'false',
    'webhooks may use plain http and private networks',
    boolean,
  ),
  DEPOSIT_WEBHOOK_GIVE_UP_AFTER: number('72', 'hours for which a notification is retried', 1, 10_000),
  DEPOSIT_CONSOLE: setting(
    'loopback',
    'the console at /console: off, loopback (for this machine, without a proxy) or public (needs https)',
    oneOf('off', 'loopback', 'public'),
  ),
  DEPOSIT_OPERATOR: setting(
    '',
    'name of the operator in events; default: the user, under sudo the one who called it',
    optionalName,
  ),
} satisfies Record<string, Setting<unknown>>;

export type Read = <Name extends SettingName>(name: Name) => ReturnType<(typeof SETTINGS)[Name]['parse']>;

function setting<Value>(fallback: string, help: string, parse: (text: string) => Value): Setting<Value> {
  return { fallback, help, parse };
}

/** Returns the setting of a whole number; its help states the bounds. */
function number(fallback: string, help: string, min: number, max?: number): Setting<number> {
  const bounds = max === undefined ? `at least ${min}` : `${min} to ${max}`;
  return setting(fallback, `${help} (${bounds})`, integer(min, max));
}
