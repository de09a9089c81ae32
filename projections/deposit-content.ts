import { deposits } from '../src/domain/aggregates.ts';
import type { Archive, DepositEvent } from '../src/domain/deposit/events.ts';
import type { Projection } from '../src/read-models/projection.ts';
import { begun, changed, type OnItsWay, statusChanges } from './status-changes.ts';

/** What the deposit consists of: for its receipt, its content document and its EM-IRI. */
export type DepositContentView = OnItsWay & {
  readonly depositId: number;
  readonly uuid: string;
  readonly client: string;
  readonly collection: string;
  readonly createdAt: string;
  readonly title: string | null;
  /** In upload order. */
  readonly archives: readonly Archive[];
};

export const depositContent: Projection<DepositContentView, DepositEvent> = {
  name: 'deposit-content',
  version: 1,
  source: deposits,
  key: ({ data }) => String(data.depositId),
  when: {
    DepositCreated: (_, event) => {
      const { depositId, uuid, client, collection, createdAt } = event.data;
      return { ...begun(event), depositId, uuid, client, collection, createdAt, title: null, archives: [] };
    },
    ArchiveAdded: (view, event) =>
      view && changed(view, event, { archives: [...view.archives, event.data.archive] }),
    ArchivesReplaced: (view, event) => view && changed(view, event, { archives: [event.data.archive] }),
    ArchivesRemoved: (view, event) => view && changed(view, event, { archives: [] }),
    MetadataAdded: (view, event) =>
      view && changed(view, event, { title: view.title ?? event.data.entry.facts.title }),
    MetadataReplaced: (view, event) => view && changed(view, event, { title: event.data.entry.facts.title }),
    ...statusChanges<DepositContentView>(),
  },
};
