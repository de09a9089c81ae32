/** What is kept of an upload beside its bytes. */
export type UploadRecord = {
  /** UUID. */
  readonly id: string;
  readonly client: string;
  readonly collection: string;
  /** Bytes it will have. */
  readonly length: number;
  /** `Upload-Metadata` as the client sent it. */
  readonly metadata: string | null;
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly state: UploadState;
};

export type UploadState =
  | { readonly status: 'open' }
  /** Bytes from here on came with a checksum that is not verified yet: they count for nothing. */
  | { readonly status: 'verifying'; readonly from: number }
  /** A request is about to record it as an archive of a deposit, or was cut off when it was. */
  | { readonly status: 'claimed'; readonly claim: Claim }
  /** It is an archive of this deposit; its bytes are no longer here. */
  | { readonly status: 'used'; readonly depositId: number; readonly usedAt: string; readonly sha256: string };

/** By which the log tells whether the request has recorded anything. */
export type Claim = {
  readonly requestId: string;
  /**
   * An event of the log before it: what the request has recorded stands behind it, where the log still has it there.
   * `null`: none was known. Earlier releases kept a position, of whatever log.
   */
  readonly after: SeenEvent | string | null;
  /** Of the archive in the store. */
  readonly sha256: string;
};

export type SeenEvent = {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: string;
};

/** Whether it can be gone on with; another release may have kept something else. */
export function isRecord(value: unknown): value is UploadRecord {
  const { length, createdAt, state } = Object(value) as { readonly [key in keyof UploadRecord]?: unknown };
  const { status } = Object(state) as { readonly status?: unknown };
  return (
    Number.isSafeInteger(length) &&
    !Number.isNaN(Date.parse(String(createdAt))) &&
    STATUSES.has(String(status))
  );
}

const STATUSES: ReadonlySet<string> = new Set([
  'open',
  'verifying',
  'claimed',
  'used',
] satisfies UploadState['status'][]);
