import type { Decider } from '../decider.ts';
import { assertAbsent, assertExists, assertPartial } from './assert-status.ts';
import type { Change, Command, DepositCommand, NewContent } from './commands.ts';
import { DepositRefusal } from './errors.ts';
import type { DepositEvent, MetadataEntry, UnreadableCopy } from './events.ts';
import { assertArchives, assertChangeLimit, assertEntries, assertLengths } from './limits.ts';
import { assertNoReference, depositMetadata, updateMetadata } from './metadata/decide-metadata.ts';
import { assertOriginAllowed, originOf } from './metadata/origin.ts';
import { absent, type Deposit, evolve, type Waiting } from './state.ts';

export const depositDecider: Decider<Deposit, DepositCommand, DepositEvent> = {
  initial: absent,
  decide: (command, deposit) => (DECISIONS[command.type] as Decision)(command, deposit), // the one of its type
  evolve,
};

type Decision = (command: DepositCommand, deposit: Deposit) => readonly DepositEvent[];

/** The decision about each command: a new one does not compile without it. */
const DECISIONS: {
  readonly [Type in DepositCommand['type']]: (
    command: Command<Type>,
    deposit: Deposit,
  ) => readonly DepositEvent[];
} = {
  CreateDeposit(command, deposit) {
    const { depositId, uuid, client, collection, slug, fallbackOrigin, archive, entry, now } = command;
    assertAbsent(depositId, deposit);
    if (!archive && !entry) {
      throw new DepositRefusal(
        'NOTHING_DEPOSITED',
        'A deposit needs an archive or a metadata entry to begin with.',
      );
    }
    if (entry) assertSoftwareEntry(entry, command.providerUrl);
    const created: DepositEvent = {
      type: 'DepositCreated',
      data: { depositId, uuid, client, collection, createdAt: now, slug, fallbackOrigin },
    };
    const entries = entry ? [entry] : [];
    return [
      created,
      ...contentAdded(depositId, { archive, entry }),
      ...(command.isFinal ? [depositCompleted(depositId, now, entries, fallbackOrigin)] : []),
    ];
  },

  ChangeDeposit(command, deposit) {
    const { depositId, change, isFinal, now } = command;
    assertPartial(depositId, deposit);
    if ('entry' in change && change.entry) assertSoftwareEntry(change.entry, command.providerUrl);
    if ('number' in change) assertHasArchive(change.number, deposit);
    const changes = changesOf(deposit, change);
    const after = changes.reduce<Deposit>(evolve, deposit);
    assertPartial(depositId, after);
    if (after.archives.length > deposit.archives.length)
      assertArchives(after.archives.length, command.maxArchives);
    assertEntries(after.entries.length);
    if (!isFinal) assertChangeLimit(depositId, after.changes);
    return isFinal
      ? [...changes, depositCompleted(depositId, now, after.entries, after.fallbackOrigin)]
      : changes;
  },

  CompleteDeposit({ depositId, now }, deposit) {
    assertExists(depositId, deposit);
    if (deposit.status !== 'partial') return []; // a repeated request: the deposit is already completed
    return [depositCompleted(depositId, now, deposit.entries, deposit.fallbackOrigin)];
  },

  DeleteDeposit({ depositId, reason }, deposit) {
    assertPartial(depositId, deposit);
    return [{ type: 'DepositDeleted', data: { depositId, reason } }];
  },

  /** Records that the checks passed. A duplicate outcome, or one of an earlier attempt, changes nothing. */
  RecordVerified(command, deposit) {
    const { depositId, attempt, readings, warnings } = command;
    if (deposit.status !== 'deposited' || deposit.checkAttempt !== attempt) return [];
    return [{ type: 'DepositVerified', data: { depositId, attempt, readings, warnings } }];
  },

  RecordRejected(command, deposit) {
    const { depositId, attempt, reasons, warnings } = command;
    if (deposit.status !== 'deposited' || deposit.checkAttempt !== attempt) return [];
    return [{ type: 'DepositRejected', data: { depositId, attempt, reasons, warnings } }];
  },

  /** Records an unreadable object once per object and error; the work itself is retried until it succeeds. */
  RecordUnreadable({ depositId, copy }, deposit) {
    if (!isWaitingFor(copy, deposit)) return [];
    const { unreadable } = deposit;
    if (unreadable?.object === copy.object && unreadable.code === copy.code) return [];
    return [{ type: 'CopyUnreadable', data: { depositId, ...copy } }];
  },

  /** Starts a new check. The outcome of one still running names the earlier attempt, and changes nothing. */
  RetryChecks({ depositId }, deposit) {
    assertExists(depositId, deposit);
    if (deposit.status !== 'rejected' && deposit.status !== 'deposited') {
      const text = `Deposit ${depositId} is ${deposit.status}; only a deposited or rejected deposit can be checked again.`;
      throw new DepositRefusal('DEPOSIT_NOT_REJECTED', text);
    }
    return [{ type: 'ChecksRetried', data: { depositId, attempt: deposit.checkAttempt + 1 } }];
  },

  StartLoading({ depositId, attempt }, deposit) {
    if (deposit.status !== 'verified' || deposit.loadAttempt !== attempt) return [];
    return [{ type: 'LoadingStarted', data: { depositId, attempt } }];
  },

  RecordLoaded({ loaded }, deposit) {
    if (deposit.status !== 'loading' || deposit.loadAttempt !== loaded.attempt) return [];
    return [{ type: 'DepositLoaded', data: loaded }];
  },

  RecordLoadingFailed(command, deposit) {
    const { depositId, attempt, reason } = command;
    if (deposit.status !== 'loading' || deposit.loadAttempt !== attempt) return [];
    return [{ type: 'LoadingFailed', data: { depositId, attempt, reason } }];
  },

  RetryLoading({ depositId }, deposit) {
    assertExists(depositId, deposit);
    if (deposit.status !== 'failed' && deposit.status !== 'verified' && deposit.status !== 'loading') {
      const text = `Deposit ${depositId} is ${deposit.status}; only a verified, loading or failed deposit can be loaded again.`;
      throw new DepositRefusal('DEPOSIT_NOT_FAILED', text);
    }
    return [{ type: 'LoadingRetried', data: { depositId, attempt: deposit.loadAttempt + 1 } }];
  },

  UpdateMetadata: updateMetadata,
  DepositMetadata: depositMetadata,
};

function changesOf({ depositId, archives }: Deposit & { status: 'partial' }, change: Change): DepositEvent[] {
  switch (change.kind) {
    case 'add-content':
      return contentAdded(depositId, change);
    case 'replace-content':
      return contentReplaced(depositId, change);
    case 'remove-archives':
      return archives.length > 0 ? [{ type: 'ArchivesRemoved', data: { depositId } }] : [];
    case 'replace-archive': {
      const { number, archive } = change;
      return [{ type: 'ArchiveReplaced', data: { depositId, number, archive } }];
    }
    case 'remove-archive':
      return [{ type: 'ArchiveRemoved', data: { depositId, number: change.number } }];
    default:
      return change satisfies never;
  }
}

function contentAdded(depositId: number, { archive, entry }: NewContent): DepositEvent[] {
  return [
    ...(archive ? [{ type: 'ArchiveAdded' as const, data: { depositId, archive } }] : []),
    ...(entry ? [{ type: 'MetadataAdded' as const, data: { depositId, entry } }] : []),
  ];
}

function contentReplaced(depositId: number, { archive, entry }: NewContent): DepositEvent[] {
  return [
    ...(archive ? [{ type: 'ArchivesReplaced' as const, data: { depositId, archive } }] : []),
    ...(entry ? [{ type: 'MetadataReplaced' as const, data: { depositId, entry } }] : []),
  ];
}

function depositCompleted(
  depositId: number,
  now: string,
  entries: readonly MetadataEntry[],
  fallbackOrigin: string,
): DepositEvent {
  const origin = originOf(entries, fallbackOrigin);
  return { type: 'DepositCompleted', data: { depositId, completedAt: now, origin } };
}

function isWaitingFor({ work, attempt }: UnreadableCopy, deposit: Deposit): deposit is Waiting {
  if (deposit.status === 'deposited') return work === 'check' && attempt === deposit.checkAttempt;
  const isToLoad = deposit.status === 'verified' || deposit.status === 'loading';
  return isToLoad && work === 'load' && attempt === deposit.loadAttempt;
}

/** Refuses a metadata entry that may not accompany software. */
function assertSoftwareEntry({ facts }: MetadataEntry, providerUrl: string | null): void {
  assertNoReference(facts);
  assertLengths(facts);
  assertOriginAllowed(facts, providerUrl);
}

function assertHasArchive(number: number, { depositId, archives }: Deposit & { status: 'partial' }): void {
  if (archives.some((archive) => archive.number === number)) return;
  throw new DepositRefusal('ARCHIVE_NOT_FOUND', `Deposit ${depositId} has no archive number ${number}.`);
}
