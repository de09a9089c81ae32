import type {
  ArchiveReading,
  DepositEvent,
  DepositLoaded,
  MetadataEntry,
  MetadataTarget,
  Reason,
  UnreadableCopy,
} from './events.ts';
import { type Archives, added, allRemoved, noArchives, removed, replaced } from './numbered-archives.ts';

/** A deposit as its events have made it. */
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
  /** Metadata alone, about what another deposit has brought. */
  | ({ readonly status: 'done'; readonly target: MetadataTarget; readonly completedAt: string } & Updated &
      Content);

export type Content = Archives & {
  readonly depositId: number;
  readonly uuid: string;
  readonly client: string;
  readonly collection: string;
  readonly fallbackOrigin: string;
  readonly entries: readonly MetadataEntry[];
  /** How many archives and entries were added, replaced or removed since its creation, that with which it began included. */
  readonly changes: number;
};

export type Completed = Content & {
  readonly completedAt: string;
  readonly origin: string;
  /** The check that is due or was the last, from 1. */
  readonly checkAttempt: number;
  /** Why the checks or the loading cannot go on; absent once they have. */
  readonly unreadable?: UnreadableCopy;
};

export type Verified = Completed & {
  readonly readings: readonly ArchiveReading[];
  readonly warnings: readonly Reason[];
  /** The load that is due, on its way or was the last, from 1. */
  readonly loadAttempt: number;
};

/** A deposit whose checks or loading are due or under way. */
export type Waiting = Extract<Deposit, { status: 'deposited' | 'verified' | 'loading' }>;

export type Updated = {
  /** Metadata that came once it was done: the identifiers rest on the `entries` alone. */
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
  return evolveExisting(deposit as Existing, event); // a stream begins with DepositCreated: decide sees to it
}

type Existing = Exclude<Deposit, { status: 'absent' }>;

function evolveExisting(
  deposit: Existing,
  event: Exclude<DepositEvent, { type: 'DepositCreated' }>,
): Deposit {
  const changed = { ...deposit, changes: deposit.changes + 1 };
  switch (event.type) {
    case 'ArchiveAdded':
      return { ...changed, ...added(deposit, event.data.archive) };
    case 'ArchivesReplaced':
      return { ...changed, ...added(allRemoved(deposit), event.data.archive) };
    case 'ArchivesRemoved':
      return { ...changed, ...allRemoved(deposit) };
    case 'ArchiveReplaced':
      return { ...changed, ...replaced(deposit, event.data.number, event.data.archive) };
    case 'ArchiveRemoved':
      return { ...changed, ...removed(deposit, event.data.number) };
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
  // Each event implies the status before it: decide has seen to that when the event was made.
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
