/** What is kept of an upload beside its bytes. */
export type UploadRecord = {
  /**
   * Bytes that were synced before this number was: after a power cut those behind it may be zeros. `undefined` in
   * records of releases that did not have it, where the length of the file is all that is known.
   */
  readonly durableLength?: number | undefined;
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

const PREFIX = '{"durableLength":';
/** Digits of the largest safe integer. */
const WIDTH = 16;
const IN_PLACE = new RegExp(`^\\${PREFIX}[\\d ]{${WIDTH}},"`);

/**
 * The text of the record file. The durable length comes first and is padded with blanks, which JSON allows: it can be
 * overwritten in place, within the first sector of the file, which a power cut leaves either old or new.
 */
export function recordText({ durableLength = 0, ...rest }: UploadRecord): string {
  return `${PREFIX}${paddedLength(durableLength)},${JSON.stringify(rest).slice(1)}`;
}

/** Position of {@link paddedLength} in the record file. */
export const LENGTH_POSITION = PREFIX.length;

export function paddedLength(length: number): string {
  return String(length).padEnd(WIDTH);
}

/**
 * `undefined` unless this release can continue the upload. An older release that rewrote the record knew nothing of
 * the durable length and lost the padding: the number that it copied is dropped.
 * @throws {SyntaxError} no JSON
 */
export function parsedRecord(text: string): UploadRecord | undefined {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) return undefined;
  return IN_PLACE.test(text) ? value : { ...value, durableLength: undefined };
}

/** Whether it can be gone on with; another release may have kept something else. */
function isRecord(value: unknown): value is UploadRecord {
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
