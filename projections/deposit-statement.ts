import { deposits } from '../src/domain/aggregates.ts';
import type { Archive, DepositEvent } from '../src/domain/deposit/events.ts';
import {
  type Archives,
  added,
  allRemoved,
  type NumberedArchive,
  noArchives,
  removed,
  replaced,
} from '../src/domain/deposit/numbered-archives.ts';
import type { Projection, Recorded } from '../src/read-models/projection.ts';
import { begun, changed, type OnItsWay, statusChanges } from './status-changes.ts';

/** What the Statement tells of a deposit. Folded from its stream when somebody asks: no node keeps it. */
export type DepositStatementView = OnItsWay &
  Archives<DepositedArchive> & {
    readonly depositId: number;
    readonly uuid: string;
    readonly client: string;
    readonly collection: string;
    readonly title: string | null;
  };

export type DepositedArchive = NumberedArchive & {
  /** RFC 3339, UTC. */
  readonly depositedOn: string;
  /** Of the event by which it came. */
  readonly revision: number;
};

export const depositStatement: Projection<DepositStatementView, DepositEvent> = {
  name: 'deposit-statement',
  version: 2,
  source: deposits,
  when: {
    DepositCreated: (_, event) => {
      const { depositId, uuid, client, collection } = event.data;
      return { ...begun(event), depositId, uuid, client, collection, title: null, ...noArchives };
    },
    ArchiveAdded: (view, event) =>
      view && changed(view, event, added(view, deposited(event.data.archive, event))),
    ArchivesReplaced: (view, event) =>
      view && changed(view, event, added(allRemoved(view), deposited(event.data.archive, event))),
    ArchivesRemoved: (view, event) => view && changed(view, event, allRemoved(view)),
    ArchiveReplaced: (view, event) =>
      view && changed(view, event, replaced(view, event.data.number, deposited(event.data.archive, event))),
    ArchiveRemoved: (view, event) => view && changed(view, event, removed(view, event.data.number)),
    MetadataAdded: (view, event) =>
      view && changed(view, event, { title: view.title ?? event.data.entry.facts.title }),
    MetadataUpdated: (view, event) =>
      view && changed(view, event, { title: view.title ?? event.data.entry.facts.title }),
    MetadataReplaced: (view, event) => view && changed(view, event, { title: event.data.entry.facts.title }),
    ...statusChanges<DepositStatementView>(),
  },
};

function deposited(archive: Archive, { occurredAt, revision }: Recorded): Omit<DepositedArchive, 'number'> {
  return { ...archive, depositedOn: occurredAt, revision };
}
