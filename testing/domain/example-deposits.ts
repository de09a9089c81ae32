import type { Command } from '../../src/domain/deposit/commands.ts';
import type {
  Archive,
  ArchiveReading,
  DepositEvent,
  DepositLoaded,
  EntryFacts,
  MetadataEntry,
  UnreadableCopy,
} from '../../src/domain/deposit/events.ts';

const [NOW, LATER] = ['2026-03-01T10:00:00.000Z', '2026-03-01T11:00:00.000Z'];

export const fallbackOrigin = 'https://alice.example/software/paint';

const aliceFacts: EntryFacts = {
  title: 'Paint',
  hasTitle: true,
  hasAuthor: true,
  authors: ['Alice'],
  urlHosts: ['alice.example'],
  urlHostsTruncated: false,
  origin: null,
  externalIdentifier: null,
  version: '1.0',
  dateCreated: null,
  datePublished: null,
};

export const aliceArchive = archiveNamed('paint-1.0.tar.gz', 'a');
export const secondArchive = archiveNamed('docs.zip', 'b');
export const aliceEntry = entryWith({});

export function archiveNamed(filename: string, digit: string): Archive {
  return { filename, sha256: digit.repeat(64), length: 1000, md5: null, mediaType: 'application/x-tar' };
}

export function entryWith(facts: Partial<EntryFacts>): MetadataEntry {
  return { sha256: 'e'.repeat(64), length: 300, encoding: 'utf-8', facts: { ...aliceFacts, ...facts } };
}

export function createDeposit(changes: Partial<Command<'CreateDeposit'>> = {}): Command<'CreateDeposit'> {
  return {
    type: 'CreateDeposit',
    depositId: 1,
    uuid: '6a1b4f0e-0000-4000-8000-000000000001',
    client: 'alice',
    collection: 'software',
    slug: null,
    fallbackOrigin,
    archive: aliceArchive,
    entry: aliceEntry,
    isFinal: true,
    now: NOW,
    providerUrl: 'https://alice.example/software',
    ...changes,
  };
}

export function changeDeposit(
  change: Command<'ChangeDeposit'>['change'],
  changes: Partial<Command<'ChangeDeposit'>> = {},
): Command<'ChangeDeposit'> {
  return {
    type: 'ChangeDeposit',
    depositId: 1,
    change,
    isFinal: false,
    maxArchives: 3,
    now: LATER,
    providerUrl: 'https://alice.example/software',
    ...changes,
  };
}

export const depositCreated: DepositEvent = {
  type: 'DepositCreated',
  data: {
    depositId: 1,
    uuid: '6a1b4f0e-0000-4000-8000-000000000001',
    client: 'alice',
    collection: 'software',
    createdAt: NOW,
    slug: null,
    fallbackOrigin,
  },
};

export const archiveAdded: DepositEvent = {
  type: 'ArchiveAdded',
  data: { depositId: 1, archive: aliceArchive },
};
export const metadataAdded: DepositEvent = {
  type: 'MetadataAdded',
  data: { depositId: 1, entry: aliceEntry },
};
export const depositDeleted: DepositEvent = {
  type: 'DepositDeleted',
  data: { depositId: 1, reason: 'gone' },
};

export function depositCompleted(completedAt = NOW, origin = fallbackOrigin): DepositEvent {
  return { type: 'DepositCompleted', data: { depositId: 1, completedAt, origin } };
}

export const reading: ArchiveReading = {
  archive: aliceArchive.sha256,
  format: 'tar.gz',
  files: 2,
  bytes: 52,
  listing: 'c'.repeat(64),
};

export const depositVerified: DepositEvent = {
  type: 'DepositVerified',
  data: { depositId: 1, attempt: 1, readings: [reading], warnings: [] },
};

export const noArchive = {
  code: 'NO_ARCHIVE',
  text: 'The deposit has no software archive',
  fields: ['archive'],
};

export const depositRejected: DepositEvent = {
  type: 'DepositRejected',
  data: { depositId: 1, attempt: 1, reasons: [noArchive], warnings: [] },
};

export const unreadableCopy: UnreadableCopy = {
  work: 'check',
  attempt: 1,
  object: aliceArchive.sha256,
  code: 'OBJECT_MISSING',
};

export const copyUnreadable: DepositEvent = {
  type: 'CopyUnreadable',
  data: { depositId: 1, ...unreadableCopy },
};

export const loadingStarted: DepositEvent = { type: 'LoadingStarted', data: { depositId: 1, attempt: 1 } };

export const loadedData: DepositLoaded['data'] = {
  depositId: 1,
  attempt: 1,
  policy: 'swh-1',
  directory: '1'.repeat(40),
  revision: '2'.repeat(40),
  snapshot: '3'.repeat(40),
  origin: fallbackOrigin,
  identity: 'Deposit Service <deposit@localhost>',
  authorDate: { seconds: 1, offset: '+0000' },
  committerDate: { seconds: 1, offset: '+0000' },
  archives: [aliceArchive.sha256],
  files: 2,
  bytes: 52,
  manifest: 'd'.repeat(64),
};

export const depositLoaded: DepositEvent = { type: 'DepositLoaded', data: loadedData };

export const broken = { code: 'LOADING_IMPOSSIBLE', text: 'The store was gone', fields: ['archive'] };

export const loadingFailed: DepositEvent = {
  type: 'LoadingFailed',
  data: { depositId: 1, attempt: 1, reason: broken },
};

/** Returns the events of a valid deposit up to and including this type. */
export function wayTo(type: DepositEvent['type']): DepositEvent[] {
  const way = [
    depositCreated,
    archiveAdded,
    metadataAdded,
    depositCompleted(),
    depositVerified,
    loadingStarted,
    depositLoaded,
  ];
  return way.slice(0, way.findIndex((event) => event.type === type) + 1);
}
