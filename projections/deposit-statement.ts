import { deposits } from '../src/domain/aggregates.ts';
import { type Archives, type NumberedArchive, noArchives } from '../src/domain/deposit/archive-list.ts';
import type { DepositEvent } from '../src/domain/deposit/events.ts';
import type { Projection } from '../src/views/projection.ts';
import { archiveChanges } from './archive-changes.ts';
import { initialStatus, type StatusFields, statusChanges, withChange } from './status-changes.ts';

/** The data of the Statement of a deposit. It is folded from the stream on request; no node stores it. */
export type DepositStatementView = StatusFields &
  Archives<DepositedArchive> & {
    readonly depositId: number;
    readonly uuid: string;
    readonly client: string;
    readonly collection: string;
    readonly title: string | null;
  };

type DepositedArchive = NumberedArchive & {
  /** RFC 3339, UTC. */
  readonly depositedOn: string;
  /** Revision of the event that added the archive. */
  readonly revision: number;
};

export const depositStatement: Projection<DepositStatementView, DepositEvent> = {
  name: 'deposit-statement',
  version: 3,
  source: deposits,
  when: {
    DepositCreated: (_, event) => {
      const { depositId, uuid, client, collection } = event.data;
      return { ...initialStatus(event), depositId, uuid, client, collection, title: null, ...noArchives };
    },
    ...archiveChanges<DepositStatementView, DepositedArchive>((archive, { occurredAt, revision }) => {
      return { ...archive, depositedOn: occurredAt, revision };
    }),
    MetadataAdded: (view, event) =>
      view && withChange(view, event, { title: view.title ?? event.data.entry.facts.title }),
    MetadataUpdated: (view, event) =>
      view && withChange(view, event, { title: view.title ?? event.data.entry.facts.title }),
    MetadataReplaced: (view, event) =>
      view && withChange(view, event, { title: event.data.entry.facts.title }),
    ...statusChanges<DepositStatementView>(),
  },
};
