import { counted, type Description, type Detail, describedBy, detail, saying } from '../description.ts';
import type {
  Archive,
  ArchiveReading,
  DepositEvent,
  MetadataEntry,
  MetadataTarget,
  Reason,
} from './events.ts';
import { reasonText, UNREADABLE } from './status-detail.ts';

/** What happened to a deposit, told to a person. */
export const describeDepositEvent: (event: DepositEvent) => Description = describedBy<DepositEvent>({
  DepositCreated: ({ collection, uuid, slug, fallbackOrigin }) =>
    saying(
      `Deposit created in the collection ${collection}.`,
      detail('uuid', uuid),
      detail('slug', slug),
      detail('origin', `${fallbackOrigin} unless the metadata name another`),
    ),
  ArchiveAdded: ({ archive }) =>
    saying(`Archive ${archive.filename} added (${bytes(archive)}).`, ...archiveDetails(archive)),
  ArchivesReplaced: ({ archive }) =>
    saying(`All archives replaced by ${archive.filename} (${bytes(archive)}).`, ...archiveDetails(archive)),
  ArchivesRemoved: () => saying('All archives removed.'),
  ArchiveReplaced: ({ number, archive }) =>
    saying(
      `Archive number ${number} replaced by ${archive.filename} (${bytes(archive)}).`,
      ...archiveDetails(archive),
    ),
  ArchiveRemoved: ({ number }) => saying(`Archive number ${number} removed.`),
  MetadataAdded: ({ entry }) =>
    saying(`Metadata added: ${nameOf(entry)} (${bytes(entry)}).`, ...entryDetails(entry)),
  MetadataReplaced: ({ entry }) =>
    saying(`All metadata replaced by ${nameOf(entry)} (${bytes(entry)}).`, ...entryDetails(entry)),
  DepositCompleted: ({ origin }) =>
    saying('Deposit completed: nothing more comes from the client.', detail('origin', origin)),
  DepositDeleted: ({ reason }) => saying('Deposit deleted.', detail('reason', reason)),
  DepositVerified: ({ attempt, readings, warnings }) =>
    saying(
      `Deposit passed check ${attempt}: ${contents(readings)}.`,
      ...readings.flatMap(readingDetails),
      ...reasonDetails('warning', warnings),
    ),
  DepositRejected: ({ attempt, reasons, warnings }) =>
    saying(
      `Deposit rejected by check ${attempt} for ${counted(reasons.length, 'reason')}.`,
      ...reasonDetails('reason', reasons),
      ...reasonDetails('warning', warnings),
    ),
  CopyUnreadable: ({ work, attempt, object, code }) =>
    saying(
      UNREADABLE,
      detail('work', `${work} ${attempt}`, { internal: true }),
      detail('object', object, { digest: true, internal: true }),
      detail('fault', code, { internal: true }),
    ),
  ChecksRetried: ({ attempt }) => saying(`Checks are to be repeated: check ${attempt}.`),
  LoadingStarted: ({ attempt }) => saying(`Loading started: load ${attempt}.`),
  DepositLoaded: ({ directory, revision, snapshot, origin, policy, manifest, ...loaded }) =>
    saying(
      `Deposit loaded: ${counted(loaded.files, 'file')} of ${counted(loaded.bytes, 'byte')}.`,
      detail('directory', `swh:1:dir:${directory}`),
      detail('revision', `swh:1:rev:${revision}`),
      detail('snapshot', `swh:1:snp:${snapshot}`),
      detail('origin', origin),
      detail('recipe', policy, { internal: true }),
      detail('manifest', manifest, { digest: true, internal: true }),
    ),
  LoadingFailed: ({ attempt, reason }) =>
    saying(`Load ${attempt} failed.`, ...reasonDetails('reason', [reason])),
  LoadingRetried: ({ attempt }) => saying(`Loading is to be repeated: load ${attempt}.`),
  MetadataUpdated: ({ swhid, entry }) =>
    saying(
      `Metadata added to the finished deposit: ${nameOf(entry)} (${bytes(entry)}).`,
      detail('about', swhid),
      ...entryDetails(entry),
    ),
  MetadataDeposited: ({ target, warnings }) =>
    saying(
      'Deposit of metadata alone is done.',
      detail('about', targetText(target)),
      ...reasonDetails('warning', warnings),
    ),
});

/** Its title with its authors, as a person knows the software. */
export function nameOf({ facts: { title, authors } }: MetadataEntry): string {
  const name = title === null ? 'metadata without a title' : `"${title}"`;
  const [shown, more] = [authors.slice(0, 3), authors.length - 3];
  if (shown.length === 0) return name;
  return `${name} by ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What metadata are about: a SWHID with its qualifiers, or the URL of an origin. */
export function targetText(target: MetadataTarget): string {
  return target.kind === 'object' ? target.context : target.url;
}

function bytes({ length }: { readonly length: number }): string {
  return counted(length, 'byte');
}

function archiveDetails({ mediaType, sha256, md5 }: Archive): (Detail | null)[] {
  return [
    detail('type', mediaType),
    detail('sha256', sha256, { digest: true }),
    detail('md5', md5, { digest: true }),
  ];
}

function entryDetails({ sha256, encoding, facts }: MetadataEntry): (Detail | null)[] {
  return [
    detail('version', facts.version),
    detail('created', facts.dateCreated),
    detail('published', facts.datePublished),
    detail('identifier', facts.externalIdentifier),
    detail('origin', facts.origin && facts.origin.url),
    detail('encoding', encoding),
    detail('sha256', sha256, { digest: true }),
  ];
}

function contents(readings: readonly ArchiveReading[]): string {
  const sum = (key: 'files' | 'bytes') => readings.reduce((total, reading) => total + reading[key], 0);
  const archives = counted(readings.length, 'archive');
  return `${counted(sum('files'), 'file')} of ${counted(sum('bytes'), 'byte')} in ${archives}`;
}

function readingDetails({ archive, format, files, bytes: size, listing }: ArchiveReading): (Detail | null)[] {
  return [
    detail('archive', archive, { digest: true }),
    detail('read as', `${format}, ${counted(files, 'file')} of ${counted(size, 'byte')}`),
    detail('listing', listing, { digest: true, internal: true }),
  ];
}

function reasonDetails(label: string, reasons: readonly Reason[]): (Detail | null)[] {
  return reasons.map((reason) => detail(label, reasonText(reason)));
}
