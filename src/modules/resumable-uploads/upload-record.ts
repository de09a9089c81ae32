import type { SeenEvent } from '../../event-log/event-log.ts';
export type UploadRecord = {
  /**
   * Number of bytes synced before this number was: after a power cut, later bytes may be zeros. `undefined` in records
   * of releases without it, where only the length of the file is known.
   */
  readonly durableLength?: number | undefined;
  /** UUID. */
  readonly id: string;
  readonly client: string;
  readonly collection: string;
  /** Final number of bytes. */
  readonly length: number;
  /** `Upload-Metadata`, verbatim. */
  readonly metadata: string | null;
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly state: UploadState;
};

export type UploadState =
  | { readonly status: 'open' }
  /** Bytes from here on have a checksum that is not verified yet: they do not count. */
  | { readonly status: 'verifying'; readonly from: number }
  /** A request is recording it as an archive of a deposit, or was interrupted while doing so. */
  | { readonly status: 'claimed'; readonly claim: Claim }
  /** It is an archive of this deposit; its bytes have been removed from here. */
  | { readonly status: 'used'; readonly depositId: number; readonly usedAt: string; readonly sha256: string };

/** Identifies the command that may have made the upload an archive of a deposit. */
export type Claim = {
  /** SHA-256 of the archive in the store. */
  readonly sha256: string;
  readonly requestId: string;
  /** An event before the command, or a position of any log, by which earlier releases limit their search. */
  readonly after: SeenEvent | string | null;
} & (
  | { readonly depositId: number; readonly commandId: string }
  /** Claims of earlier releases: events of the request have its id as correlation id. */
  | { readonly depositId?: undefined; readonly commandId?: undefined }
);

const PREFIX = '{"durableLength":';
/** Number of digits of the largest safe integer. */
const WIDTH = 16;
const IN_PLACE = new RegExp(`^\\${PREFIX}[\\d ]{${WIDTH}},"`);

/**
 * Returns the text of the record file. The durable length comes first and is padded with blanks, which JSON allows. It
 * can be overwritten in place within the first sector of the file, which a power cut leaves either old or new.
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
 * Parses a record; returns `undefined` unless this release can continue the upload. An older release that rewrote the
 * record did not know the durable length and lost the padding: its copied number is dropped.
 * @throws {SyntaxError} no JSON
 */
export function parsedRecord(text: string): UploadRecord | undefined {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) return undefined;
  return IN_PLACE.test(text) ? value : { ...value, durableLength: undefined };
}

/** Returns whether the record can be continued; another release may have stored something else. */
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
