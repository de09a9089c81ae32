import {
  type Archives,
  noArchives,
  withArchive,
  withArchiveReplaced,
  withoutArchive,
  withoutArchives,
} from './archive-list.ts';
import type {
  ArchiveReading,
  DepositEvent,
  DepositLoaded,
  MetadataEntry,
  MetadataTarget,
  Reason,
  UnreadableCopy,
} from './events.ts';

/** The state of a deposit, folded from its events. */
export type Deposit =
  | { readonly status: 'absent' }
  | ({ readonly status: 'partial' } & Content)
  | ({ readonly status: 'deleted'; readonly reason: string } & Content)
  | ({ readonly status: 'deposited' } & Completed)
  | ({ readonly status: 'rejected'; readonly reasons: readonly Reason[] } & Completed)
  | ({ readonly status: 'verified' } & Verified)
  | ({ readonly status: 'loading' } & Verified)
  | ({ readonly status: 'failed'; readonly reason: Reason } & Verified)
  | ({ readonly status: 'done'; readonly loaded: DepositLoaded['data'] } & Updated & Verified)
  /** Metadata without software, about what another deposit contains. */
  | ({ readonly status: 'done'; readonly target: MetadataTarget; readonly completedAt: string } & Updated &
      Content);

type Content = Archives & {
  readonly depositId: number;
  readonly uuid: string;
  readonly client: string;
  readonly collection: string;
  readonly fallbackOrigin: string;
  readonly entries: readonly MetadataEntry[];
  /** How many archives and entries were added, replaced or removed, including those of the creating request. */
  readonly changes: number;
};

type Completed = Content & {
  readonly completedAt: string;
  readonly origin: string;
  /** Number of the pending or last check, from 1. */
  readonly checkAttempt: number;
  /** Why the checks or the loading cannot continue; absent once they have continued. */
  readonly unreadable?: UnreadableCopy;
};

export type Verified = Completed & {
  readonly readings: readonly ArchiveReading[];
  readonly warnings: readonly Reason[];
  /** Number of the pending, running or last load, from 1. */
  readonly loadAttempt: number;
};

/** A deposit whose checks or loading are pending or running. */
export type Waiting = Extract<Deposit, { status: 'deposited' | 'verified' | 'loading' }>;

type Updated = {
  /** Metadata added after the deposit was done. The identifiers depend on `entries` alone. */
  readonly updates?: readonly MetadataEntry[];
};

export const absent: Deposit = { status: 'absent' };

export function evolve(deposit: Deposit, event: DepositEvent): Deposit {
  if (event.type === 'DepositCreated') {
    const { depositId, uuid, client, collection, fallbackOrigin } = event.data;
    return {
      status: 'partial',
      depositId,
      uuid,
      client,
      collection,
      fallbackOrigin,
      ...noArchives,
      entries: [],
      changes: 0,
    };
  }
  return evolveExisting(deposit as Existing, event); // `decide` ensures that a stream begins with DepositCreated
}

type Existing = Exclude<Deposit, { status: 'absent' }>;

function evolveExisting(
  deposit: Existing,
  event: Exclude<DepositEvent, { type: 'DepositCreated' }>,
): Deposit {
  const changed = { ...deposit, changes: deposit.changes + 1 };
  switch (event.type) {
    case 'ArchiveAdded':
      return { ...changed, ...withArchive(deposit, event.data.archive) };
    case 'ArchivesReplaced':
      return { ...changed, ...withArchive(withoutArchives(deposit), event.data.archive) };
    case 'ArchivesRemoved':
      return { ...changed, ...withoutArchives(deposit) };
    case 'ArchiveReplaced':
      return { ...changed, ...withArchiveReplaced(deposit, event.data.number, event.data.archive) };
    case 'ArchiveRemoved':
      return { ...changed, ...withoutArchive(deposit, event.data.number) };
    case 'MetadataAdded':
      return { ...changed, entries: [...deposit.entries, event.data.entry] };
    case 'MetadataReplaced':
      return { ...changed, entries: [event.data.entry] };
    case 'DepositDeleted':
      return { ...deposit, status: 'deleted', reason: event.data.reason };
    default:
      return evolveCompleted(deposit, event);
  }
}

type AfterCompletion = Exclude<
  DepositEvent,
  | { type: 'DepositCreated' | 'DepositDeleted' | 'ArchiveAdded' | 'ArchivesReplaced' | 'ArchivesRemoved' }
  | { type: 'ArchiveReplaced' | 'ArchiveRemoved' }
  | { type: 'MetadataAdded' | 'MetadataReplaced' }
>;

function evolveCompleted(deposit: Existing, event: AfterCompletion): Deposit {
  // Each event implies the status before it: `decide` ensured that when the event was created.
  const { unreadable: _, ...readable } = deposit as Existing & Completed;
  const completed = readable as Existing & Completed;
  const verified = readable as Existing & Verified;
  switch (event.type) {
    case 'DepositCompleted': {
      const { completedAt, origin } = event.data;
      return { ...deposit, status: 'deposited', completedAt, origin, checkAttempt: 1 };
    }
    case 'DepositVerified': {
      const { readings, warnings } = event.data;
      return { ...completed, status: 'verified', readings, warnings, loadAttempt: 1 };
    }
    case 'DepositRejected':
      return { ...completed, status: 'rejected', reasons: event.data.reasons };
    case 'CopyUnreadable': {
      const { depositId: _, ...unreadable } = event.data;
      return { ...(completed as Waiting), unreadable };
    }
    case 'ChecksRetried': {
      const { reasons: _, ...others } = completed as Extract<Deposit, { status: 'rejected' }>;
      return { ...others, status: 'deposited', checkAttempt: event.data.attempt };
    }
    case 'LoadingStarted':
      return { ...verified, status: 'loading' };
    case 'DepositLoaded':
      return { ...verified, status: 'done', loaded: event.data };
    case 'LoadingFailed':
      return { ...verified, status: 'failed', reason: event.data.reason };
    case 'MetadataUpdated': {
      const done = deposit as Extract<Deposit, { status: 'done' }>;
      return { ...done, updates: [...(done.updates ?? []), event.data.entry] };
    }
    case 'MetadataDeposited': {
      const { completedAt, target } = event.data;
      return { ...deposit, status: 'done', completedAt, target };
    }
    case 'LoadingRetried': {
      const { reason: _, ...others } = verified as Extract<Deposit, { status: 'failed' }>;
      return { ...others, status: 'verified', loadAttempt: event.data.attempt };
    }
    default:
      return event satisfies never;
  }
}
