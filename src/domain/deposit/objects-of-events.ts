import type { DepositEvent } from './events.ts';

/** Returns the digests of the store objects that an event references, which must exist as long as it counts. */
export function referencedObjects(event: DepositEvent): readonly string[] {
  switch (event.type) {
    case 'ArchiveAdded':
    case 'ArchivesReplaced':
    case 'ArchiveReplaced':
      return [event.data.archive.sha256];
    case 'MetadataAdded':
    case 'MetadataReplaced':
    case 'MetadataUpdated':
      return [event.data.entry.sha256];
    case 'DepositVerified':
      return event.data.readings.flatMap(({ archive, listing }) => [archive, listing]);
    case 'DepositLoaded':
      return [...event.data.archives, event.data.manifest];
    case 'DepositCreated':
    case 'ArchivesRemoved':
    case 'ArchiveRemoved':
    case 'DepositCompleted':
    case 'DepositDeleted':
    case 'DepositRejected':
    case 'CopyUnreadable': // an event before it names the object
    case 'ChecksRetried':
    case 'LoadingStarted':
    case 'LoadingFailed':
    case 'LoadingRetried':
    case 'MetadataDeposited':
      return [];
    default:
      return event satisfies never;
  }
}
