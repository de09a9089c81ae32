import type {
  Archive,
  ArchiveReading,
  DepositLoaded,
  MetadataEntry,
  MetadataTarget,
  Reason,
  UnreadableCopy,
} from './events.ts';

export type DepositCommand =
  | CreateDeposit
  | ChangeDeposit
  | CompleteDeposit
  | DeleteDeposit
  | RecordVerified
  | RecordRejected
  | RecordUnreadable
  | RetryChecks
  | StartLoading
  | RecordLoaded
  | RecordLoadingFailed
  | RetryLoading
  | UpdateMetadata
  | DepositMetadata;

export type CreateDeposit = {
  type: 'CreateDeposit';
  depositId: number;
  uuid: string;
  client: string;
  collection: string;
  slug: string | null;
  fallbackOrigin: string;
  archive: Archive | null;
  entry: MetadataEntry | null;
  /** The final request: the client sends nothing more. */
  final: boolean;
  now: string;
} & OriginRule;

/** A change of a partial deposit. The final request also completes the deposit in the same append. */
export type ChangeDeposit = {
  type: 'ChangeDeposit';
  depositId: number;
  change: Change;
  final: boolean;
  maxArchives: number;
  now: string;
} & OriginRule;

export type Change =
  | { readonly kind: 'add-content'; readonly archive: Archive | null; readonly entry: MetadataEntry | null }
  | {
      readonly kind: 'replace-content';
      readonly archive: Archive | null;
      readonly entry: MetadataEntry | null;
    }
  | { readonly kind: 'remove-archives' }
  | { readonly kind: 'replace-archive'; readonly number: number; readonly archive: Archive }
  | { readonly kind: 'remove-archive'; readonly number: number };

type OriginRule = {
  /** URL that the client's origins must be under; `null` if the client may name none. */
  providerUrl: string | null;
};

export type CompleteDeposit = { type: 'CompleteDeposit'; depositId: number; now: string };
export type DeleteDeposit = { type: 'DeleteDeposit'; depositId: number; reason: string };

export type RecordVerified = {
  type: 'RecordVerified';
  depositId: number;
  attempt: number;
  readings: readonly ArchiveReading[];
  warnings: readonly Reason[];
};

export type RecordRejected = {
  type: 'RecordRejected';
  depositId: number;
  attempt: number;
  reasons: readonly Reason[];
  warnings: readonly Reason[];
};

export type RecordUnreadable = { type: 'RecordUnreadable'; depositId: number; copy: UnreadableCopy };
export type RetryChecks = { type: 'RetryChecks'; depositId: number };
export type StartLoading = { type: 'StartLoading'; depositId: number; attempt: number };
export type RecordLoaded = { type: 'RecordLoaded'; loaded: DepositLoaded['data'] };
export type RecordLoadingFailed = {
  type: 'RecordLoadingFailed';
  depositId: number;
  attempt: number;
  reason: Reason;
};
export type RetryLoading = { type: 'RetryLoading'; depositId: number };

/** Adds metadata to a deposit that is done. */
export type UpdateMetadata = {
  type: 'UpdateMetadata';
  depositId: number;
  /** The identifier that the client states for the deposit. */
  swhid: string;
  entry: MetadataEntry;
} & OriginRule;

/** A deposit of metadata without software, about something that was loaded before. */
export type DepositMetadata = {
  type: 'DepositMetadata';
  depositId: number;
  uuid: string;
  client: string;
  collection: string;
  fallbackOrigin: string;
  entry: MetadataEntry;
  target: MetadataTarget;
  now: string;
} & OriginRule;
