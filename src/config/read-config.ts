import path from 'node:path';
import { type ArchiveLimits, defaultArchiveLimits } from '../archives/archive-reader.ts';
import { errorsOfCode } from '../tools/coded-error.ts';
import { PASSWORD_COST } from '../tools/cryptography/password.ts';
import { currentUser } from '../tools/current-user.ts';
import { describeFsError } from '../tools/files/describe-fs-error.ts';
import type { ArchiveStoreConfig, Config, ConsoleAccess, EventLogConfig } from './config.ts';
import { type Checked, combinationProblems, listeningProblems } from './cross-checks.ts';
import { type Read, SETTINGS } from './settings.ts';
import { readTracing } from './tracing-setting.ts';

/** All problems of the configuration. */
export class BadConfig extends errorsOfCode('BAD_CONFIG') {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${problems.map((text) => `- ${text}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Reads the configuration of the service. Other processes do not listen: the settings with which the service does so may
 * be known to its supervisor only. @throws {BadConfig}
 */
export function readServiceConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return readConfig(env, (config) => [...combinationProblems(config), ...listeningProblems(config)]);
}

/** Reads the configuration from the environment. @throws {BadConfig} */
export function readConfig(
  env: NodeJS.ProcessEnv = process.env,
  crossChecks: (config: Checked) => string[] = combinationProblems,
): Config {
  const problems: string[] = [];
  const read: Read = (name) => {
    const { fallback, parse } = SETTINGS[name];
    const text = env[name]?.trim() || fallback;
    try {
      return parse(text) as never; // TypeScript loses the type of the setting in the table
    } catch (error) {
      const fsError = describeFsError(error); // it names the file
      problems.push(
        fsError === undefined
          ? `${name}=${withoutCredentials(text)}: ${(error as Error).message}`
          : `${name}: ${fsError}`,
      );
      return undefined as never; // never used: the problems are thrown below
    }
  };
  const { tracing, problems: tracingProblems } = readTracing(env);
  const operator = read('DEPOSIT_OPERATOR') ?? currentUser(env);
  const config = { ...assemble(read), tracing, operator };
  for (const name of Object.keys(env)) {
    if (name.startsWith('DEPOSIT_') && !(name in SETTINGS)) problems.push(`${name}: unknown setting`);
  }
  problems.push(...crossChecks(config), ...tracingProblems);
  if (problems.length > 0) throw new BadConfig(problems);
  return config;
}

/**
 * Reads the configuration with these settings added to the environment, for commands with options for them. @throws
 * {BadConfig}
 */
export function readConfigWith(settings: Readonly<Record<string, string>>): Config {
  return readConfig({ ...process.env, ...settings });
}

/** Returns all settings with their defaults and meanings, one per line. */
export function describeSettings(): string {
  const rows = Object.entries(SETTINGS).map(
    ([name, { fallback, help }]) => [`${name}=${fallback}`, help] as const,
  );
  const width = Math.max(...rows.map(([setting]) => (setting.length <= 50 ? setting.length : 0)));
  return rows.map(([setting, help]) => `  ${setting.padEnd(width)}  ${help}`).join('\n');
}

function assemble(read: Read): Omit<Config, 'tracing' | 'operator'> {
  const dataDir = read('DEPOSIT_DATA_DIR') ?? ''; // undefined only together with a problem, which is thrown later
  const [cert, key] = [read('DEPOSIT_TLS_CERT'), read('DEPOSIT_TLS_KEY')];
  const limits = archiveLimits(read);
  const [maxUploadSize, maxResumableSize] = [
    read('DEPOSIT_MAX_UPLOAD_SIZE'),
    read('DEPOSIT_MAX_RESUMABLE_SIZE'),
  ];
  const largestArchive = Math.max(maxUploadSize, maxResumableSize);
  const longestCheck = limits.wallTime + Math.ceil(largestArchive / limits.wallBytesPerMs);
  return {
    host: read('DEPOSIT_HOST'),
    port: read('DEPOSIT_PORT'),
    baseUrl: read('DEPOSIT_BASE_URL'),
    dataDir,
    roles: read('DEPOSIT_ROLES'),
    eventLog: eventLogConfig(read, dataDir),
    archiveStore: archiveStoreConfig(read, dataDir),
    viewSnapshotSize: read('DEPOSIT_VIEW_SNAPSHOT_SIZE'),
    s3Durable: read('DEPOSIT_S3_DURABLE'),
    maxUploadSize,
    maxEntrySize: read('DEPOSIT_MAX_ENTRY_SIZE'),
    maxArchives: read('DEPOSIT_MAX_ARCHIVES'),
    maxParts: read('DEPOSIT_MAX_PARTS'),
    xmlLimits: {
      depth: read('DEPOSIT_MAX_XML_DEPTH'),
      elements: read('DEPOSIT_MAX_XML_ELEMENTS'),
      attributes: read('DEPOSIT_MAX_XML_ATTRIBUTES'),
      attributeLength: read('DEPOSIT_MAX_XML_ATTRIBUTE_SIZE'),
    },
    maxHeadersSize: read('DEPOSIT_MAX_HEADERS_SIZE'),
    headersTime: read('DEPOSIT_HEADERS_TIME'),
    bodyTimeouts: {
      base: read('DEPOSIT_BODY_TIME'),
      bytesPerMs: read('DEPOSIT_BODY_RATE') / 1000,
      idle: read('DEPOSIT_BODY_PAUSE'),
    },
    maxWrites: read('DEPOSIT_MAX_WRITES'),
    uploadLimits: {
      maxSize: maxResumableSize,
      perClient: read('DEPOSIT_MAX_OPEN_UPLOADS'),
      totalSize: read('DEPOSIT_MAX_OPEN_UPLOADS_SIZE'),
      expiry: read('DEPOSIT_UPLOAD_EXPIRY') * 3_600_000,
    },
    depositNamespace: read('DEPOSIT_NAMESPACE'),
    refIdAliases: read('DEPOSIT_REF_ID_ALIASES'),
    loaderIdentity: read('DEPOSIT_LOADER_IDENTITY'),
    logLevel: read('DEPOSIT_LOG_LEVEL'),
    archiveLimits: limits,
    archiveWorkers: read('DEPOSIT_ARCHIVE_WORKERS'),
    reactionPause: 300,
    passwordCost: PASSWORD_COST,
    stuckAfter: Math.max(read('DEPOSIT_STUCK_AFTER') * 1000, 2 * longestCheck),
    trustProxy: read('DEPOSIT_TRUST_PROXY'),
    operatorHost: read('DEPOSIT_OPERATOR_HOST'),
    operatorPort: read('DEPOSIT_OPERATOR_PORT'),
    operatorTrustNetwork: read('DEPOSIT_OPERATOR_TRUST_NETWORK'),
    tls: cert === '' && key === '' ? null : { cert, key },
    anchorKeyFile: read('DEPOSIT_ANCHOR_KEY_FILE') ?? path.join(dataDir, 'keys', 'anchor-ed25519.pem'),
    anchorFile: read('DEPOSIT_ANCHOR_FILE'),
    anchorInterval: read('DEPOSIT_ANCHOR_INTERVAL'),
    webhooks: {
      keyFile: read('DEPOSIT_WEBHOOK_KEY_FILE') ?? path.join(dataDir, 'keys', 'webhook-aes256.key'),
      allowPrivate: read('DEPOSIT_WEBHOOK_ALLOW_PRIVATE'),
      giveUpAfter: read('DEPOSIT_WEBHOOK_GIVE_UP_AFTER') * 3_600_000,
      firstPause: 1000,
      longestPause: 3_600_000,
    },
    console: read('DEPOSIT_CONSOLE') as ConsoleAccess, // the parser admits no other word
  };
}

/**
 * Returns the log's configuration. A setting that cannot be read stays `undefined`, so that the default is not
 * validated in its place.
 */
function eventLogConfig(read: Read, dataDir: string): EventLogConfig {
  const inFile = read('DEPOSIT_EVENT_LOG_FILE');
  const place = inFile === null ? read('DEPOSIT_EVENT_LOG') : inFile;
  return place === null ? { kind: 'sqlite', file: path.join(dataDir, 'event-log.sqlite') } : place;
}

function archiveStoreConfig(read: Read, dataDir: string): ArchiveStoreConfig {
  const place = read('DEPOSIT_ARCHIVE_STORE') ?? {
    kind: 'file' as const,
    folder: path.join(dataDir, 'archives'),
  };
  const [accessFile, secretFile] = [read('DEPOSIT_S3_ACCESS_KEY_FILE'), read('DEPOSIT_S3_SECRET_KEY_FILE')];
  const accessKey = accessFile === '' ? read('DEPOSIT_S3_ACCESS_KEY') : accessFile;
  const secretKey = secretFile === '' ? read('DEPOSIT_S3_SECRET_KEY') : secretFile;
  return place.kind === 'file' ? place : { ...place, accessKey, secretKey };
}

function archiveLimits(read: Read): ArchiveLimits {
  return {
    ...defaultArchiveLimits,
    unpackedBytes: read('DEPOSIT_MAX_UNPACKED_SIZE'),
    ratio: read('DEPOSIT_MAX_RATIO'),
    members: read('DEPOSIT_MAX_MEMBERS'),
    pathBytes: read('DEPOSIT_MAX_PATH'),
    nameBytes: read('DEPOSIT_MAX_NAME'),
    depth: read('DEPOSIT_MAX_DEPTH'),
    linkTargetBytes: read('DEPOSIT_MAX_LINK_TARGET'),
    wallTime: read('DEPOSIT_CHECK_TIME'),
  };
}

/**
 * Removes credentials from a setting: problems are printed, and the URL of a backend may contain a password with any
 * character, or keys as parameters.
 */
function withoutCredentials(text: string): string {
  return text.replace(/^(s3:[^?]*\?).*/is, '$1…').replace(/^([a-z0-9+]+:(?:\/\/)?)?.*:.*@/i, '$1…@');
}
