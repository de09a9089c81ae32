import path from 'node:path';
import type { S3Place } from './archive-store/s3-url.ts';
import { type ArchiveLimits, defaultArchiveLimits } from './archives/inspection.ts';
import {
  archiveStore,
  boolean,
  eventLog,
  identity,
  integer,
  oneOf,
  optionalUrl,
  readableFile,
  roles,
  secretIn,
  url,
} from './setting-values.ts';
import { DEFAULT_DEPOSIT_NAMESPACE } from './sword/namespaces.ts';

/** Everything an operator can choose. Sizes in bytes, times in milliseconds. */
export type Config = {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** `null`: the listening address. */
  readonly baseUrl: string | null;
  readonly dataDir: string;
  readonly roles: readonly Role[];
  readonly eventLog: EventLogConfig;
  readonly archiveStore: ArchiveStoreConfig;
  readonly maxUploadSize: number;
  readonly maxEntrySize: number;
  readonly maxArchives: number;
  readonly depositNamespace: string;
  readonly refIdAliases: boolean;
  readonly loaderIdentity: string;
  readonly logLevel: string;
  readonly archiveLimits: ArchiveLimits;
  readonly archiveWorkers: number;
  readonly trustProxy: boolean;
  readonly tls: { readonly cert: string; readonly key: string } | null;
};

/** What a node does: serve clients, or check and load deposits. */
export type Role = 'http' | 'reactors';

export type EventLogConfig =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'eventstoredb'; readonly connectionString: string };
export type ArchiveStoreConfig =
  | { readonly kind: 'file'; readonly folder: string }
  | ({ readonly kind: 's3'; readonly accessKey: string; readonly secretKey: string } & S3Place);

/** Every problem of the configuration at once. */
export class BadConfig extends Error {
  override readonly name = 'BadConfig';
  readonly code = 'BAD_CONFIG';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length} problem(s):\n${problems.map((text) => `- ${text}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

/** Reads the environment. @throws {BadConfig} */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = [];
  const read = <Name extends SettingName>(name: Name): ReturnType<(typeof SETTINGS)[Name]['parse']> => {
    const { fallback, parse } = SETTINGS[name];
    const text = env[name]?.trim() || fallback;
    try {
      return parse(text) as ReturnType<(typeof SETTINGS)[Name]['parse']>; // TypeScript loses the link through the table
    } catch (error) {
      problems.push(`${name}=${text}: ${(error as Error).message}`);
      return undefined as never; // never used: the problems are thrown below
    }
  };
  const config = assemble(read);
  for (const name of Object.keys(env)) {
    if (name.startsWith('DEPOSIT_') && !(name in SETTINGS))
      problems.push(`${name}: no setting has this name`);
  }
  problems.push(
    ...exposureProblems(config),
    ...tlsProblems(config),
    ...keyProblems(config),
    ...roleProblems(config),
  );
  if (problems.length > 0) throw new BadConfig(problems);
  return config;
}

/** Every setting, with its default and meaning, a line each. */
export function describeSettings(): string {
  const rows = Object.entries(SETTINGS).map(
    ([name, { fallback, help }]) => [`${name}=${fallback}`, help] as const,
  );
  const width = Math.max(...rows.map(([setting]) => (setting.length <= 50 ? setting.length : 0)));
  return rows.map(([setting, help]) => `  ${setting.padEnd(width)}  ${help}`).join('\n');
}

type SettingName = keyof typeof SETTINGS;
type Setting<Value> = {
  readonly fallback: string;
  readonly help: string;
  readonly parse: (text: string) => Value;
};

const MIB = 1024 ** 2;
const limits = defaultArchiveLimits;

const SETTINGS = {
  DEPOSIT_HOST: setting('127.0.0.1', 'address to listen on', String),
  DEPOSIT_PORT: setting('8080', 'port to listen on; 0 picks a free one and prints it', integer(0, 65_535)),
  DEPOSIT_BASE_URL: setting('', 'public address in every IRI; default: the listening address', optionalUrl),
  DEPOSIT_DATA_DIR: setting('./data', 'folder of all that is kept on this machine', path.resolve),
  DEPOSIT_ROLES: setting(
    'http,reactors',
    'what this node does: serve clients, check and load, or both',
    roles,
  ),
  DEPOSIT_EVENT_LOG: setting(
    '',
    'sqlite:<file> or esdb://…; default: event-log.sqlite in the data folder',
    eventLog,
  ),
  DEPOSIT_ARCHIVE_STORE: setting(
    '',
    'file:<folder>, or s3://<host>:<port>/<bucket>?tls=true&region=…; default: archives in the data folder',
    archiveStore,
  ),
  DEPOSIT_S3_ACCESS_KEY: setting('', 'access key of the S3 store', String),
  DEPOSIT_S3_ACCESS_KEY_FILE: setting('', 'file that holds it instead', secretIn),
  DEPOSIT_S3_SECRET_KEY: setting('', 'secret key of the S3 store', String),
  DEPOSIT_S3_SECRET_KEY_FILE: setting('', 'file that holds it instead', secretIn),
  DEPOSIT_MAX_UPLOAD_SIZE: setting(String(20 * MIB), 'bytes of one archive', integer(1)),
  DEPOSIT_MAX_ENTRY_SIZE: setting(String(MIB), 'bytes of one metadata entry', integer(1, 16 * MIB)),
  DEPOSIT_MAX_ARCHIVES: setting('32', 'archives of one deposit', integer(1, 1000)),
  DEPOSIT_NAMESPACE: setting(DEFAULT_DEPOSIT_NAMESPACE, 'XML namespace of the deposit elements', url),
  DEPOSIT_REF_ID_ALIASES: setting('true', 'give identifiers as deposit_swh_id, too', boolean),
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
  DEPOSIT_MAX_UNPACKED_SIZE: setting(
    String(limits.unpackedBytes),
    'bytes of one archive, unpacked',
    integer(1),
  ),
  DEPOSIT_MAX_RATIO: setting(
    String(limits.ratio),
    'unpacked : packed, of archives above 64 MiB unpacked',
    integer(1),
  ),
  DEPOSIT_MAX_MEMBERS: setting(String(limits.members), 'members of one archive', integer(1, 10_000_000)),
  DEPOSIT_MAX_PATH: setting(String(limits.pathBytes), "bytes of a member's path", integer(1, 65_535)),
  DEPOSIT_MAX_DEPTH: setting(String(limits.depth), 'folders a member may lie deep', integer(1, 1000)),
  DEPOSIT_CHECK_TIME: setting(
    String(limits.wallTime),
    'milliseconds to read one archive, besides those for its size',
    integer(1000),
  ),
  DEPOSIT_ARCHIVE_WORKERS: setting('2', 'threads that read archives', integer(1, 64)),
  DEPOSIT_TRUST_PROXY: setting(
    'false',
    'a proxy in front ends TLS: allows other addresses than loopback',
    boolean,
  ),
  DEPOSIT_TLS_CERT: setting('', 'PEM file of the certificate chain, to serve https', readableFile),
  DEPOSIT_TLS_KEY: setting('', 'PEM file of its key', readableFile),
} satisfies Record<string, Setting<unknown>>;

type Read = <Name extends SettingName>(name: Name) => ReturnType<(typeof SETTINGS)[Name]['parse']>;

function assemble(read: Read): Config {
  const dataDir = read('DEPOSIT_DATA_DIR') ?? ''; // undefined only with a problem that is thrown later
  const [cert, key] = [read('DEPOSIT_TLS_CERT'), read('DEPOSIT_TLS_KEY')];
  return {
    host: read('DEPOSIT_HOST'),
    port: read('DEPOSIT_PORT'),
    baseUrl: read('DEPOSIT_BASE_URL'),
    dataDir,
    roles: read('DEPOSIT_ROLES'),
    eventLog: read('DEPOSIT_EVENT_LOG') ?? {
      kind: 'sqlite',
      file: path.join(dataDir, 'event-log.sqlite'),
    },
    archiveStore: archiveStoreConfig(read, dataDir),
    maxUploadSize: read('DEPOSIT_MAX_UPLOAD_SIZE'),
    maxEntrySize: read('DEPOSIT_MAX_ENTRY_SIZE'),
    maxArchives: read('DEPOSIT_MAX_ARCHIVES'),
    depositNamespace: read('DEPOSIT_NAMESPACE'),
    refIdAliases: read('DEPOSIT_REF_ID_ALIASES'),
    loaderIdentity: read('DEPOSIT_LOADER_IDENTITY'),
    logLevel: read('DEPOSIT_LOG_LEVEL'),
    archiveLimits: archiveLimits(read),
    archiveWorkers: read('DEPOSIT_ARCHIVE_WORKERS'),
    trustProxy: read('DEPOSIT_TRUST_PROXY'),
    tls: cert || key ? { cert, key } : null,
  };
}

function archiveStoreConfig(read: Read, dataDir: string): ArchiveStoreConfig {
  const place = read('DEPOSIT_ARCHIVE_STORE') ?? {
    kind: 'file' as const,
    folder: path.join(dataDir, 'archives'),
  };
  const accessKey = read('DEPOSIT_S3_ACCESS_KEY_FILE') || read('DEPOSIT_S3_ACCESS_KEY');
  const secretKey = read('DEPOSIT_S3_SECRET_KEY_FILE') || read('DEPOSIT_S3_SECRET_KEY');
  return place.kind === 'file' ? place : { ...place, accessKey, secretKey };
}

function archiveLimits(read: Read): ArchiveLimits {
  return {
    ...limits,
    unpackedBytes: read('DEPOSIT_MAX_UNPACKED_SIZE'),
    ratio: read('DEPOSIT_MAX_RATIO'),
    members: read('DEPOSIT_MAX_MEMBERS'),
    pathBytes: read('DEPOSIT_MAX_PATH'),
    depth: read('DEPOSIT_MAX_DEPTH'),
    wallTime: read('DEPOSIT_CHECK_TIME'),
  };
}

/** An S3 store without keys would only be found out at the first upload. */
function keyProblems({ archiveStore }: Config): string[] {
  if (archiveStore?.kind !== 's3' || (archiveStore.accessKey && archiveStore.secretKey)) return [];
  return [
    'DEPOSIT_ARCHIVE_STORE: an S3 store needs DEPOSIT_S3_ACCESS_KEY and DEPOSIT_S3_SECRET_KEY, or their …_FILE',
  ];
}

/** Nobody else could do what this node leaves undone: the embedded log is of one process. */
function roleProblems({ roles, eventLog }: Config): string[] {
  if (eventLog?.kind !== 'sqlite' || roles === undefined || roles.length === 2) return [];
  return [`DEPOSIT_ROLES=${roles.join()}: one node alone, as with the embedded event log, has to do both`];
}

/** One file alone would quietly mean no TLS. */
function tlsProblems({ tls }: Config): string[] {
  if (!tls || (tls.cert && tls.key)) return [];
  const [set, unset] = tls.cert ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
  return [`DEPOSIT_TLS_${set} is set, DEPOSIT_TLS_${unset} is not: TLS needs both`];
}

/** Passwords come with every request: off this machine they travel only inside TLS. */
function exposureProblems({ host, trustProxy, tls }: Config): string[] {
  if (trustProxy || tls || /^(127\.|::1$|localhost$)/.test(host)) return [];
  const text =
    'other machines could reach it and passwords would travel in clear: set DEPOSIT_TLS_CERT and DEPOSIT_TLS_KEY, or DEPOSIT_TRUST_PROXY=true behind a proxy that ends TLS';
  return [`DEPOSIT_HOST=${host}: ${text}`];
}

function setting<Value>(fallback: string, help: string, parse: (text: string) => Value): Setting<Value> {
  return { fallback, help, parse };
}
