import { deposits } from '../src/domain/aggregates.ts';
import { type Archives, type NumberedArchive, noArchives } from '../src/domain/deposit/archive-list.ts';
import type { DepositEvent, MetadataEntry } from '../src/domain/deposit/events.ts';
import type { Projection } from '../src/views/projection.ts';
import { archiveChanges } from './archive-changes.ts';
import { type DepositFields, newDeposit, statusChanges, withChange } from './deposit-fields.ts';

/** The content of a deposit, for its receipt, its content document, its Statement and its EM-IRI. */
export type DepositContentView = DepositFields &
  Archives<DepositedArchive> & {
    readonly title: string | null;
    /** The objects of the current metadata entries, in the order in which they were added. */
    readonly entries: readonly EntryObject[];
  };

type DepositedArchive = NumberedArchive & {
  /** RFC 3339, UTC. */
  readonly depositedOn: string;
  /** Revision of the event that added the archive. */
  readonly revision: number;
};

export type EntryObject = Pick<MetadataEntry, 'sha256' | 'length' | 'encoding'>;

export const depositContent: Projection<DepositContentView, DepositEvent> = {
  name: 'deposit-content',
  version: 5,
  source: deposits,
  when: {
    DepositCreated: (_, event) => ({ ...newDeposit(event), title: null, entries: [], ...noArchives }),
    ...archiveChanges<DepositContentView, DepositedArchive>((archive, { occurredAt, revision }) => {
      return { ...archive, depositedOn: occurredAt, revision };
    }),
    MetadataAdded: (view, event) => view && withChange(view, event, withEntry(view, event.data.entry)),
    MetadataUpdated: (view, event) => view && withChange(view, event, withEntry(view, event.data.entry)),
    MetadataReplaced: (view, event) => {
      const { entry } = event.data;
      return view && withChange(view, event, { title: entry.facts.title, entries: [objectOf(entry)] });
    },
    ...statusChanges<DepositContentView>(),
  },
};

/** Returns the fields with one more entry; the title is that of the first entry that has one. */
function withEntry(
  { title, entries }: DepositContentView,
  entry: MetadataEntry,
): Pick<DepositContentView, 'title' | 'entries'> {
  return { title: title ?? entry.facts.title, entries: [...entries, objectOf(entry)] };
}

function objectOf({ sha256, length, encoding }: MetadataEntry): EntryObject {
  return { sha256, length, encoding };
}
