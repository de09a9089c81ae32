import { deposits } from '../src/domain/aggregates.ts';
import type { DepositEvent, MetadataEntry } from '../src/domain/deposit/events.ts';
import {
  type Archives,
  added,
  allRemoved,
  noArchives,
  removed,
  replaced,
} from '../src/domain/deposit/numbered-archives.ts';
import type { Projection } from '../src/read-models/projection.ts';
import { begun, changed, type OnItsWay, statusChanges } from './status-changes.ts';

/** What the deposit consists of: for its receipt, its content document and its EM-IRI. */
export type DepositContentView = OnItsWay &
  Archives & {
    readonly depositId: number;
    readonly uuid: string;
    readonly client: string;
    readonly collection: string;
    readonly createdAt: string;
    readonly title: string | null;
    /** Where the metadata entries that count are, in the order in which they came. */
    readonly entries: readonly EntryObject[];
  };

export type EntryObject = Pick<MetadataEntry, 'sha256' | 'length' | 'encoding'>;

export const depositContent: Projection<DepositContentView, DepositEvent> = {
  name: 'deposit-content',
  version: 3,
  source: deposits,
  when: {
    DepositCreated: (_, event) => {
      const { depositId, uuid, client, collection, createdAt } = event.data;
      const known = { depositId, uuid, client, collection, createdAt, title: null, entries: [] };
      return { ...begun(event), ...known, ...noArchives };
    },
    ArchiveAdded: (view, event) => view && changed(view, event, added(view, event.data.archive)),
    ArchivesReplaced: (view, event) =>
      view && changed(view, event, added(allRemoved(view), event.data.archive)),
    ArchivesRemoved: (view, event) => view && changed(view, event, allRemoved(view)),
    ArchiveReplaced: (view, event) =>
      view && changed(view, event, replaced(view, event.data.number, event.data.archive)),
    ArchiveRemoved: (view, event) => view && changed(view, event, removed(view, event.data.number)),
    MetadataAdded: (view, event) => {
      const { entry } = event.data;
      const title = view?.title ?? entry.facts.title;
      return view && changed(view, event, { title, entries: [...view.entries, objectOf(entry)] });
    },
    MetadataUpdated: (view, event) => {
      const { entry } = event.data;
      const title = view?.title ?? entry.facts.title;
      return view && changed(view, event, { title, entries: [...view.entries, objectOf(entry)] });
    },
    MetadataReplaced: (view, event) => {
      const { entry } = event.data;
      return view && changed(view, event, { title: entry.facts.title, entries: [objectOf(entry)] });
    },
    ...statusChanges<DepositContentView>(),
  },
};

function objectOf({ sha256, length, encoding }: MetadataEntry): EntryObject {
  return { sha256, length, encoding };
}
