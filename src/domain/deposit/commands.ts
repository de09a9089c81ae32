import type { CommandsOf } from '../decider.ts';
import type {
  Archive,
  DepositEvent,
  DepositLoaded,
  MetadataEntry,
  MetadataTarget,
  UnreadableCopy,
} from './events.ts';

export type DepositCommand = CommandsOf<{
  CreateDeposit: NewDeposit & {
    slug: string | null;
    archive: Archive | null;
    entry: MetadataEntry | null;
    /** The final request: the client sends nothing more. */
    isFinal: boolean;
  };
  /** A change of a partial deposit. The final request also completes the deposit in the same append. */
  ChangeDeposit: {
    depositId: number;
    change: Change;
    isFinal: boolean;
    maxArchives: number;
    now: string;
  } & OriginRule;
  CompleteDeposit: { depositId: number; now: string };
  DeleteDeposit: DataOf<'DepositDeleted'>;
  RecordVerified: DataOf<'DepositVerified'>;
  RecordRejected: DataOf<'DepositRejected'>;
  RecordUnreadable: { depositId: number; copy: UnreadableCopy };
  RetryChecks: { depositId: number };
  StartLoading: DataOf<'LoadingStarted'>;
  RecordLoaded: { loaded: DepositLoaded['data'] };
  RecordLoadingFailed: DataOf<'LoadingFailed'>;
  RetryLoading: { depositId: number };
  /** Adds metadata to a deposit that is done. `swhid` is the identifier that the client states for it. */
  UpdateMetadata: { depositId: number; swhid: string; entry: MetadataEntry } & OriginRule & DomainRule;
  /** A deposit of metadata without software, about something that was loaded before. */
  DepositMetadata: NewDeposit & { entry: MetadataEntry; target: MetadataTarget } & DomainRule;
}>;

/** The commands of one or more types. */
export type Command<Type extends DepositCommand['type']> = Extract<DepositCommand, { type: Type }>;

type NewDeposit = {
  depositId: number;
  uuid: string;
  client: string;
  collection: string;
  fallbackOrigin: string;
  now: string;
} & OriginRule;

type OriginRule = {
  /** URL that the client's origins must be under; `null` if the client may name none. */
  providerUrl: string | null;
};

type DomainRule = {
  /** Host name that one of the URLs in the metadata must be under; `null` if the client has none. */
  domain: string | null;
};

/** The data of an event that a command records as they are. */
type DataOf<Type extends DepositEvent['type']> = Extract<DepositEvent, { type: Type }>['data'];

/** Content that a request adds, or in place of what there is. */
export type NewContent = { readonly archive: Archive | null; readonly entry: MetadataEntry | null };

export type Change =
  | ({ readonly kind: 'add-content' | 'replace-content' } & NewContent)
  | { readonly kind: 'remove-archives' }
  | { readonly kind: 'replace-archive'; readonly number: number; readonly archive: Archive }
  | { readonly kind: 'remove-archive'; readonly number: number };
