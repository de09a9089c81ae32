import { MAX_S3_OBJECT } from '../archive-store/s3-url.ts';
import type { Config } from '../config.ts';
import { isLoopback } from '../loopback.ts';

type Trust = 'trustProxy' | 'operatorTrustNetwork';
type Judged = Omit<Config, Trust> & Partial<Pick<Config, Trust>>;

/** What is wrong with settings that are right one by one. Those that are wrong themselves are `undefined`. */
export function combinationProblems(config: Judged): string[] {
  return [
    ...exposureProblems(config),
    ...operatorProblems(config),
    ...tlsProblems(config),
    ...keyProblems(config),
    ...roleProblems(config),
    ...uploadProblems(config),
  ];
}

/** An S3 store without keys would only be found out at the first upload. */
function keyProblems({ archiveStore }: Judged): string[] {
  if (archiveStore?.kind !== 's3') return [];
  if (archiveStore.accessKey !== '' && archiveStore.secretKey !== '') return [];
  return [
    'DEPOSIT_ARCHIVE_STORE: an S3 store needs DEPOSIT_S3_ACCESS_KEY and DEPOSIT_S3_SECRET_KEY, or their …_FILE',
  ];
}

/** Nobody else could do what this node leaves undone: the embedded log is of one process. */
function roleProblems({ roles, eventLog }: Judged): string[] {
  if (eventLog?.kind !== 'sqlite' || roles === undefined || roles.length === 2) return [];
  return [`DEPOSIT_ROLES=${roles.join()}: one node alone, as with the embedded event log, has to do both`];
}

/** Such an archive would come to its last byte and then be refused. */
function uploadProblems({ archiveStore, maxUploadSize, uploadLimits: { maxSize } }: Judged): string[] {
  if (archiveStore?.kind !== 's3') return [];
  const sizes = { DEPOSIT_MAX_UPLOAD_SIZE: maxUploadSize, DEPOSIT_MAX_RESUMABLE_SIZE: maxSize };
  return Object.entries(sizes).flatMap(([name, size]) =>
    size > MAX_S3_OBJECT
      ? [`${name}=${size}: an S3 store takes archives of ${MAX_S3_OBJECT} bytes at most`]
      : [],
  );
}

/** One file alone would quietly mean no TLS. */
function tlsProblems({ tls }: Judged): string[] {
  if (tls?.cert !== '' && tls?.key !== '') return [];
  const [set, unset] = tls.key === '' ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
  return [`DEPOSIT_TLS_${set} is set, DEPOSIT_TLS_${unset} is not: TLS needs both`];
}

/** Passwords come with every request: off this machine they travel only inside TLS. */
function exposureProblems({ host, trustProxy, tls }: Judged): string[] {
  if (trustProxy !== false || tls || isLoopback(host)) return [];
  const text =
    'other machines could reach it and passwords would travel in clear: set DEPOSIT_TLS_CERT and DEPOSIT_TLS_KEY, or DEPOSIT_TRUST_PROXY=true behind a proxy that ends TLS';
  return [`DEPOSIT_HOST=${host}: ${text}`];
}

/** It has no TLS, whatever clients have, and no proxy in front. */
function operatorProblems(config: Judged): string[] {
  const { operatorHost, operatorPort, operatorTrustNetwork } = config;
  const isSame = operatorPort > 0 && operatorPort === config.port && operatorHost === config.host;
  const taken = isSame ? [`DEPOSIT_OPERATOR_PORT=${operatorPort}: DEPOSIT_PORT is the same`] : [];
  if (operatorTrustNetwork !== false || isLoopback(operatorHost)) return taken;
  const text =
    'other machines could read the metrics, in clear and without a password: set DEPOSIT_OPERATOR_TRUST_NETWORK=true if all that reach this address may';
  return [...taken, `DEPOSIT_OPERATOR_HOST=${operatorHost}: ${text}`];
}
