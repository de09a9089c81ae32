import { deposits } from '../src/domain/aggregates.ts';
import type { DepositEvent } from '../src/domain/deposit/events.ts';
import type { Projection } from '../src/read-models/projection.ts';
import { begun, changed, type OnItsWay, statusChanges } from './status-changes.ts';

/** What the State-IRI tells. */
export type DepositStatusView = OnItsWay & {
  readonly depositId: number;
  readonly uuid: string;
  readonly client: string;
  readonly collection: string;
  readonly createdAt: string;
  readonly title: string | null;
  /** Once the deposit is done. */
  readonly loaded: LoadedIds | null;
};

/** 40 hex digits each; with the origin they make the identifier with its context. */
export type LoadedIds = {
  readonly directory: string;
  readonly revision: string;
  readonly snapshot: string;
  readonly origin: string;
};

const { DepositLoaded: done, ...others } = statusChanges<DepositStatusView>();

export const depositStatus: Projection<DepositStatusView, DepositEvent> = {
  name: 'deposit-status',
  version: 2,
  source: deposits,
  key: ({ data }) => String(data.depositId),
  indexes: [
    ['client', 'collection', 'depositId'],
    ['status', 'updatedAt'],
  ],
  countedBy: 'status',
  when: {
    DepositCreated: (_, event) => {
      const { depositId, uuid, client, collection, createdAt } = event.data;
      return { ...begun(event), depositId, uuid, client, collection, createdAt, title: null, loaded: null };
    },
    ArchiveAdded: (view, event) => view && changed(view, event, {}),
    ArchivesReplaced: (view, event) => view && changed(view, event, {}),
    ArchivesRemoved: (view, event) => view && changed(view, event, {}),
    MetadataAdded: (view, event) =>
      view && changed(view, event, { title: view.title ?? event.data.entry.facts.title }),
    MetadataReplaced: (view, event) => view && changed(view, event, { title: event.data.entry.facts.title }),
    ...others,
    DepositLoaded: (view, event) => {
      const { directory, revision, snapshot, origin } = event.data;
      return view && done?.({ ...view, loaded: { directory, revision, snapshot, origin } }, event);
    },
  },
};
