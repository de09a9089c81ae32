import { codec } from '../codec.ts';
import type { DepositEvent } from './events.ts';

export const depositCodec = codec<DepositEvent>({
  DepositCreated: [],
  ArchiveAdded: [],
  ArchivesReplaced: [],
  ArchivesRemoved: [],
  ArchiveReplaced: [],
  ArchiveRemoved: [],
  MetadataAdded: [],
  MetadataReplaced: [],
  DepositCompleted: [],
  DepositDeleted: [],
  DepositVerified: [],
  DepositRejected: [],
  CopyUnreadable: [],
  ChecksRetried: [],
  LoadingStarted: [],
  DepositLoaded: [],
  LoadingFailed: [],
  LoadingRetried: [],
  MetadataUpdated: [],
  MetadataDeposited: [],
});
