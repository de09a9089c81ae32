import { deposits } from '../src/domain/aggregates.ts';
import {
  type Archives,
  noArchives,
  withArchive,
  withArchiveReplaced,
  withoutArchive,
  withoutArchives,
} from '../src/domain/deposit/archive-list.ts';
import type { DepositEvent, EntryFacts, Reason } from '../src/domain/deposit/events.ts';
import type { Projection } from '../src/views/projection.ts';
import { initialStatus, type StatusFields, statusChanges, withChange } from './status-changes.ts';

/** A row in the list of all deposits, and the texts by which it is found. */
export type DepositSearchView = StatusFields &
  Archives & {
    readonly depositId: number;
    readonly uuid: string;
    readonly client: string;
    readonly collection: string;
    readonly createdAt: string;
    readonly slug: string | null;
    readonly title: string | null;
    readonly authors: readonly string[];
    readonly externalIdentifier: string | null;
    /** Codes of the reasons of the rejection or the failure. */
    readonly reasonCodes: readonly string[];
    /** Set once the deposit is done: 40 hex digits each. */
    readonly directory: string | null;
    readonly revisionId: string | null;
    readonly snapshot: string | null;
    readonly origin: string | null;
    /** Time and id of the last change, which order all deposits by their changes. */
    readonly changed: string;
    /** Title, authors, names of archives, slug, external identifier and origin. */
    readonly words: string;
    /** Values that are found as a whole, between spaces: `@client`, `/collection`, `!reason`, `#digest`. */
    readonly terms: string;
  };

const statuses = statusChanges<DepositSearchView>();

export const depositSearch: Projection<DepositSearchView, DepositEvent> = {
  name: 'deposit-search',
  version: 1,
  source: deposits,
  indexes: [
    ['depositId'],
    ['status', 'depositId'],
    ['client', 'depositId'],
    ['client', 'status', 'depositId'],
    ['collection', 'depositId'],
    ['collection', 'status', 'depositId'],
    ['origin', 'depositId'],
    ['changed'],
    ['client', 'changed'],
    ['uuid'],
    ['directory'],
    ['revisionId'],
    ['snapshot'],
  ],
  countedBy: ['client', 'collection', 'status'],
  texts: ['words', 'terms'],
  when: {
    DepositVerified: (view, event) => withTexts(statuses.DepositVerified?.(view, event)),
    LoadingStarted: (view, event) => withTexts(statuses.LoadingStarted?.(view, event)),
    MetadataDeposited: (view, event) => withTexts(statuses.MetadataDeposited?.(view, event)),
    DepositDeleted: () => undefined,
    DepositCreated: (_, event) => {
      const { depositId, uuid, client, collection, createdAt, slug } = event.data;
      const known = { depositId, uuid, client, collection, createdAt, slug };
      const later = { title: null, authors: [], externalIdentifier: null, reasonCodes: [] };
      const loaded = { directory: null, revisionId: null, snapshot: null, origin: null };
      return withTexts({
        ...initialStatus(event),
        ...known,
        ...noArchives,
        ...later,
        ...loaded,
        changed: '',
        words: '',
        terms: '',
      });
    },
    ArchiveAdded: (view, event) => view && changed(view, event, withArchive(view, event.data.archive)),
    ArchivesReplaced: (view, event) =>
      view && changed(view, event, withArchive(withoutArchives(view), event.data.archive)),
    ArchivesRemoved: (view, event) => view && changed(view, event, withoutArchives(view)),
    ArchiveReplaced: (view, event) =>
      view && changed(view, event, withArchiveReplaced(view, event.data.number, event.data.archive)),
    ArchiveRemoved: (view, event) => view && changed(view, event, withoutArchive(view, event.data.number)),
    MetadataAdded: (view, event) => view && changed(view, event, withFacts(view, event.data.entry.facts)),
    MetadataUpdated: (view, event) => view && changed(view, event, withFacts(view, event.data.entry.facts)),
    MetadataReplaced: (view, event) => {
      const { title, authors, externalIdentifier } = event.data.entry.facts;
      return view && changed(view, event, { title, authors, externalIdentifier });
    },
    DepositCompleted: (view, event) =>
      view && withTexts(statuses.DepositCompleted?.({ ...view, origin: event.data.origin }, event)),
    DepositRejected: (view, event) =>
      view && withTexts(statuses.DepositRejected?.(withReasons(view, event.data.reasons), event)),
    ChecksRetried: (view, event) => view && withTexts(statuses.ChecksRetried?.(withReasons(view, []), event)),
    LoadingFailed: (view, event) =>
      view && withTexts(statuses.LoadingFailed?.(withReasons(view, [event.data.reason]), event)),
    LoadingRetried: (view, event) =>
      view && withTexts(statuses.LoadingRetried?.(withReasons(view, []), event)),
    CopyUnreadable: (view, event) =>
      view && withTexts(statuses.CopyUnreadable?.(withReasons(view, [event.data]), event)),
    DepositLoaded: (view, event) => {
      const { directory, revision: revisionId, snapshot, origin } = event.data;
      return (
        view &&
        withTexts(statuses.DepositLoaded?.({ ...view, directory, revisionId, snapshot, origin }, event))
      );
    },
  },
};

/** Number of hex digits by which archives are found; the view has the whole digests. */
export const DIGEST_CHARACTERS = 16;

/** Returns the view with the codes of these reasons. */
function withReasons(view: DepositSearchView, reasons: readonly Pick<Reason, 'code'>[]): DepositSearchView {
  return { ...view, reasonCodes: reasons.map(({ code }) => code) };
}

function changed(
  view: DepositSearchView,
  event: Parameters<typeof withChange>[1],
  change: Partial<DepositSearchView>,
): DepositSearchView | undefined {
  return withTexts(withChange(view, event, change));
}

/** Returns the fields with the values of an entry; a single-valued field has its first value. */
function withFacts(
  view: DepositSearchView,
  facts: Pick<EntryFacts, 'title' | 'authors' | 'externalIdentifier'>,
): Partial<DepositSearchView> {
  return {
    title: view.title ?? facts.title,
    authors: [...new Set([...view.authors, ...facts.authors])],
    externalIdentifier: view.externalIdentifier ?? facts.externalIdentifier,
  };
}

function withTexts(view: DepositSearchView | undefined): DepositSearchView | undefined {
  if (!view) return undefined;
  const { title, authors, archives, slug, externalIdentifier, origin, reasonCodes, client, collection } =
    view;
  const names = archives.map(({ filename }) => filename);
  const words = [title, ...authors, ...names, slug, externalIdentifier, origin].filter(
    (text) => text !== null,
  );
  const terms = [
    `@${client}`,
    `/${collection}`,
    ...reasonCodes.map((code) => `!${code}`),
    ...archives.map(({ sha256 }) => `#${sha256.slice(0, DIGEST_CHARACTERS)}`),
  ];
  const changed = `${view.updatedAt} ${String(view.depositId).padStart(15, '0')}`;
  return { ...view, changed, words: words.join('\n'), terms: ` ${terms.join(' ')} ` };
}
