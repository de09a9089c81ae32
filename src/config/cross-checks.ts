import type { Config } from './config.ts';
import { isLoopback } from './loopback.ts';
import { MAX_S3_OBJECT } from './s3-url.ts';

type Trust = 'trustProxy' | 'operatorTrustNetwork';
/** A configuration of which invalid settings are `undefined`. */
export type Checked = Omit<Config, Trust> & Partial<Pick<Config, Trust>>;

/** Returns the problems of settings that are valid individually. */
export function combinationProblems(config: Checked): string[] {
  return [...tlsProblems(config), ...keyProblems(config), ...roleProblems(config), ...uploadProblems(config)];
}

/** Returns the problems of where the service listens. */
export function listeningProblems(config: Checked): string[] {
  return [...exposureProblems(config), ...operatorProblems(config), ...consoleProblems(config)];
}

/** Requires the keys of an S3 store, which would otherwise be missed only at the first upload. */
function keyProblems({ archiveStore }: Checked): string[] {
  if (archiveStore?.kind !== 's3') return [];
  if (archiveStore.accessKey !== '' && archiveStore.secretKey !== '') return [];
  return [
    'DEPOSIT_ARCHIVE_STORE: an S3 store needs DEPOSIT_S3_ACCESS_KEY and DEPOSIT_S3_SECRET_KEY, or their …_FILE',
  ];
}

/** Requires both roles with the embedded log: no other node can use that log. */
function roleProblems({ roles, eventLog }: Checked): string[] {
  if (eventLog?.kind !== 'sqlite' || roles === undefined || roles.length === 2) return [];
  return [`DEPOSIT_ROLES=${roles.join()}: the embedded event log allows one node, which needs both roles`];
}

/** Limits uploads to the largest object of an S3 store; a larger archive would be refused only after its last byte. */
function uploadProblems({ archiveStore, maxUploadSize, uploadLimits: { maxSize } }: Checked): string[] {
  if (archiveStore?.kind !== 's3') return [];
  const sizes = { DEPOSIT_MAX_UPLOAD_SIZE: maxUploadSize, DEPOSIT_MAX_RESUMABLE_SIZE: maxSize };
  return Object.entries(sizes).flatMap(([name, size]) =>
    size > MAX_S3_OBJECT
      ? [`${name}=${size}: an S3 store accepts archives of at most ${MAX_S3_OBJECT} bytes`]
      : [],
  );
}

/** Requires both TLS files; with only one, the service would silently run without TLS. */
function tlsProblems({ tls }: Checked): string[] {
  if (tls?.cert !== '' && tls?.key !== '') return [];
  const [set, unset] = tls.key === '' ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
  return [`DEPOSIT_TLS_${set} is set, DEPOSIT_TLS_${unset} is not: TLS needs both`];
}

/** Requires TLS off this machine, since every request contains a password. */
function exposureProblems({ host, trustProxy, tls }: Checked): string[] {
  if (trustProxy !== false || tls || isLoopback(host)) return [];
  const text =
    'other machines could reach it and passwords would be sent unencrypted: set DEPOSIT_TLS_CERT and DEPOSIT_TLS_KEY, or DEPOSIT_TRUST_PROXY=true behind a proxy that ends TLS';
  return [`DEPOSIT_HOST=${host}: ${text}`];
}

/** Restricts the operator port to this machine unless the network is trusted: the port has neither TLS nor a proxy. */
function operatorProblems(config: Checked): string[] {
  const { operatorHost, operatorPort, operatorTrustNetwork } = config;
  const isSame = operatorPort > 0 && operatorPort === config.port && operatorHost === config.host;
  const taken = isSame ? [`DEPOSIT_OPERATOR_PORT=${operatorPort}: DEPOSIT_PORT is the same`] : [];
  if (operatorTrustNetwork !== false || isLoopback(operatorHost)) return taken;
  const text =
    'other machines could read the metrics, unencrypted and without a password: set DEPOSIT_OPERATOR_TRUST_NETWORK=true if all that reach this address may';
  return [...taken, `DEPOSIT_OPERATOR_HOST=${operatorHost}: ${text}`];
}

/** Requires https for a console that other machines reach: its cookie is as good as a password. */
function consoleProblems({ console, trustProxy, tls }: Checked): string[] {
  if (console !== 'public' || tls || trustProxy !== false) return [];
  const text =
    'sessions would be sent unencrypted: set DEPOSIT_TLS_CERT and DEPOSIT_TLS_KEY, or DEPOSIT_TRUST_PROXY=true behind a proxy that ends TLS';
  return [`DEPOSIT_CONSOLE=public: ${text}`];
}
