import { deposits } from '../src/domain/aggregates.ts';
import {
  type Archives,
  noArchives,
  withArchive,
  withArchiveReplaced,
  withoutArchive,
  withoutArchives,
} from '../src/domain/deposit/archive-list.ts';
import type { DepositEvent, MetadataEntry } from '../src/domain/deposit/events.ts';
import type { Projection } from '../src/views/projection.ts';
import { initialStatus, type StatusFields, statusChanges, withChange } from './status-changes.ts';

/** The content of a deposit, for its receipt, its content document and its EM-IRI. */
export type DepositContentView = StatusFields &
  Archives & {
    readonly depositId: number;
    readonly uuid: string;
    readonly client: string;
    readonly collection: string;
    readonly createdAt: string;
    readonly title: string | null;
    /** The objects of the current metadata entries, in the order in which they were added. */
    readonly entries: readonly EntryObject[];
  };

export type EntryObject = Pick<MetadataEntry, 'sha256' | 'length' | 'encoding'>;

export const depositContent: Projection<DepositContentView, DepositEvent> = {
  name: 'deposit-content',
  version: 4,
  source: deposits,
  when: {
    DepositCreated: (_, event) => {
      const { depositId, uuid, client, collection, createdAt } = event.data;
      const known = { depositId, uuid, client, collection, createdAt, title: null, entries: [] };
      return { ...initialStatus(event), ...known, ...noArchives };
    },
    ArchiveAdded: (view, event) => view && withChange(view, event, withArchive(view, event.data.archive)),
    ArchivesReplaced: (view, event) =>
      view && withChange(view, event, withArchive(withoutArchives(view), event.data.archive)),
    ArchivesRemoved: (view, event) => view && withChange(view, event, withoutArchives(view)),
    ArchiveReplaced: (view, event) =>
      view && withChange(view, event, withArchiveReplaced(view, event.data.number, event.data.archive)),
    ArchiveRemoved: (view, event) => view && withChange(view, event, withoutArchive(view, event.data.number)),
    MetadataAdded: (view, event) => {
      const { entry } = event.data;
      const title = view?.title ?? entry.facts.title;
      return view && withChange(view, event, { title, entries: [...view.entries, objectOf(entry)] });
    },
    MetadataUpdated: (view, event) => {
      const { entry } = event.data;
      const title = view?.title ?? entry.facts.title;
      return view && withChange(view, event, { title, entries: [...view.entries, objectOf(entry)] });
    },
    MetadataReplaced: (view, event) => {
      const { entry } = event.data;
      return view && withChange(view, event, { title: entry.facts.title, entries: [objectOf(entry)] });
    },
    ...statusChanges<DepositContentView>(),
  },
};

function objectOf({ sha256, length, encoding }: MetadataEntry): EntryObject {
  return { sha256, length, encoding };
}
