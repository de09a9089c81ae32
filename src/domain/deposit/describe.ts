import {
  type Description,
  type Detail,
  describedBy,
  description,
  detail,
  nameOrQuoted,
  pluralize,
  quoted,
} from '../description.ts';
import type {
  Archive,
  ArchiveReading,
  DepositEvent,
  MetadataEntry,
  MetadataTarget,
  Reason,
} from './events.ts';
import { reasonText, UNREADABLE } from './status-detail.ts';

/** Describes an event of a deposit in plain text. */
export const describeDepositEvent: (event: DepositEvent) => Description = describedBy<DepositEvent>({
  DepositCreated: ({ collection, uuid, slug, fallbackOrigin }) =>
    description(
      `Deposit created in the collection ${collection}.`,
      detail('uuid', uuid),
      detail('slug', slug),
      detail('origin', `${fallbackOrigin} unless the metadata name another`),
    ),
  ArchiveAdded: ({ archive }) =>
    description(
      `Archive ${nameOrQuoted(archive.filename)} added (${bytes(archive)}).`,
      ...archiveDetails(archive),
    ),
  ArchivesReplaced: ({ archive }) =>
    description(
      `All archives replaced by ${nameOrQuoted(archive.filename)} (${bytes(archive)}).`,
      ...archiveDetails(archive),
    ),
  ArchivesRemoved: () => description('All archives removed.'),
  ArchiveReplaced: ({ number, archive }) =>
    description(
      `Archive number ${number} replaced by ${nameOrQuoted(archive.filename)} (${bytes(archive)}).`,
      ...archiveDetails(archive),
    ),
  ArchiveRemoved: ({ number }) => description(`Archive number ${number} removed.`),
  MetadataAdded: ({ entry }) =>
    description(`Metadata added: ${nameOf(entry)} (${bytes(entry)}).`, ...entryDetails(entry)),
  MetadataReplaced: ({ entry }) =>
    description(`All metadata replaced by ${nameOf(entry)} (${bytes(entry)}).`, ...entryDetails(entry)),
  DepositCompleted: ({ origin }) => description('Deposit completed by the client.', detail('origin', origin)),
  DepositDeleted: ({ reason }) => description('Deposit deleted.', detail('reason', reason)),
  DepositVerified: ({ attempt, readings, warnings }) =>
    description(
      `Deposit passed check ${attempt}: ${contents(readings)}.`,
      ...readings.flatMap(readingDetails),
      ...reasonDetails('warning', warnings),
    ),
  DepositRejected: ({ attempt, reasons, warnings }) =>
    description(
      `Deposit rejected by check ${attempt} for ${pluralize(reasons.length, 'reason')}.`,
      ...reasonDetails('reason', reasons),
      ...reasonDetails('warning', warnings),
    ),
  CopyUnreadable: ({ work, attempt, object, code }) =>
    description(
      UNREADABLE,
      detail('work', `${work} ${attempt}`, { internal: true }),
      detail('object', object, { internal: true }),
      detail('fault', code, { internal: true }),
    ),
  ChecksRetried: ({ attempt }) => description(`Re-check requested (check ${attempt}).`),
  LoadingStarted: ({ attempt }) => description(`Loading started: load ${attempt}.`),
  DepositLoaded: ({ directory, revision, snapshot, origin, policy, manifest, ...loaded }) =>
    description(
      `Deposit loaded: ${pluralize(loaded.files, 'file')} of ${pluralize(loaded.bytes, 'byte')}.`,
      detail('directory', `swh:1:dir:${directory}`),
      detail('revision', `swh:1:rev:${revision}`),
      detail('snapshot', `swh:1:snp:${snapshot}`),
      detail('origin', origin),
      detail('recipe', policy, { internal: true }),
      detail('manifest', manifest, { internal: true }),
    ),
  LoadingFailed: ({ attempt, reason }) =>
    description(`Load ${attempt} failed.`, ...reasonDetails('reason', [reason])),
  LoadingRetried: ({ attempt }) => description(`Reload requested (load ${attempt}).`),
  MetadataUpdated: ({ swhid, entry }) =>
    description(
      `Metadata added to the finished deposit: ${nameOf(entry)} (${bytes(entry)}).`,
      detail('about', swhid),
      ...entryDetails(entry),
    ),
  MetadataDeposited: ({ target, warnings }) =>
    description(
      'Deposit of metadata alone is done.',
      detail('about', targetText(target)),
      ...reasonDetails('warning', warnings),
    ),
});

/** Returns the title and the authors, which identify the software to a reader. */
export function nameOf({ facts: { title, authors } }: MetadataEntry): string {
  const name = title === null ? 'metadata without a title' : quoted(title);
  const [shown, more] = [authors.slice(0, 3), authors.length - 3];
  if (shown.length === 0) return name;
  return `${name} by ${shown.map(nameOrQuoted).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the object of a metadata deposit: a SWHID with its qualifiers, or the URL of an origin. */
export function targetText(target: MetadataTarget): string {
  return target.kind === 'object' ? target.context : target.url;
}

function bytes({ length }: { readonly length: number }): string {
  return pluralize(length, 'byte');
}

function archiveDetails({ mediaType, sha256, md5 }: Archive): (Detail | null)[] {
  return [detail('type', mediaType), detail('sha256', sha256), detail('md5', md5)];
}

function entryDetails({ sha256, encoding, facts }: MetadataEntry): (Detail | null)[] {
  return [
    detail('version', facts.version),
    detail('created', facts.dateCreated),
    detail('published', facts.datePublished),
    detail('identifier', facts.externalIdentifier),
    detail('origin', facts.origin && facts.origin.url),
    detail('encoding', encoding),
    detail('sha256', sha256),
  ];
}

function contents(readings: readonly ArchiveReading[]): string {
  const sum = (key: 'files' | 'bytes') => readings.reduce((total, reading) => total + reading[key], 0);
  const archives = pluralize(readings.length, 'archive');
  return `${pluralize(sum('files'), 'file')} of ${pluralize(sum('bytes'), 'byte')} in ${archives}`;
}

function readingDetails({ archive, format, files, bytes: size, listing }: ArchiveReading): (Detail | null)[] {
  return [
    detail('archive', archive),
    detail('read as', `${format}, ${pluralize(files, 'file')} of ${pluralize(size, 'byte')}`),
    detail('listing', listing, { internal: true }),
  ];
}

function reasonDetails(label: string, reasons: readonly Reason[]): (Detail | null)[] {
  return reasons.map((reason) => detail(label, reasonText(reason)));
}
