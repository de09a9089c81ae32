import { S3Refusal } from './s3-refusal.ts';

/**
 * The states of a server that clients cannot cause, as observed in MinIO. `few-drives-to-write` is two of four drives,
 * `few-drives-to-read` one of four; `no-format` is a drive without its format.json.
 */
export type S3State =
  | 'healthy'
  | 'starting'
  | 'stopping'
  | 'busy'
  | 'full'
  | 'over-quota'
  | 'read-only'
  | 'few-drives-to-write'
  | 'few-drives-to-read'
  | 'no-format';

export type StateRequest = {
  readonly method: string;
  readonly isList: boolean;
  /** Whether the key of the request has an object. */
  readonly exists: boolean;
};

const LATER = { 'retry-after': '60' };

/** Throws the answer of the server in this state, if it refuses such a request. */
export function assertAnswered(state: S3State, request: StateRequest): void {
  const refusal = refusalIn(state, request);
  if (refusal) throw refusal;
}

function refusalIn(state: S3State, { method, isList, exists }: StateRequest): S3Refusal | undefined {
  const writes = method === 'PUT' || method === 'POST';
  const reads = (method === 'GET' || method === 'HEAD') && !isList;
  if (state === 'starting' && !reads) return new S3Refusal(503, 'XMinioServerNotInitialized');
  if (state === 'stopping') return new S3Refusal(499, 'ClientDisconnected');
  if (state === 'busy') return new S3Refusal(429, 'TooManyRequests', { ...LATER, connection: 'close' });
  if (state === 'full' && writes) return new S3Refusal(507, 'XMinioStorageFull');
  if (state === 'over-quota' && writes) return new S3Refusal(400, 'XMinioAdminBucketQuotaExceeded');
  if (state === 'read-only' && writes) return new S3Refusal(403, 'AccessDenied');
  if (state === 'read-only' && method === 'DELETE' && exists) return new S3Refusal(500, 'InternalError');
  if (state === 'no-format' && isList) return new S3Refusal(500, 'InternalError');
  const cannotWrite = ['few-drives-to-write', 'few-drives-to-read', 'no-format'].includes(state);
  if (cannotWrite && writes) return new S3Refusal(503, 'SlowDownWrite', LATER);
  const cannotRead = state === 'few-drives-to-read' || state === 'no-format';
  if (cannotRead && !isList) return new S3Refusal(503, reads ? 'SlowDownRead' : 'SlowDownWrite', LATER);
  return undefined;
}

/** Whether `/minio/health/cluster` answers 200; `/minio/health/ready` always does. */
export function isClusterHealthy(state: S3State): boolean {
  return !['starting', 'few-drives-to-write', 'few-drives-to-read', 'no-format'].includes(state);
}
