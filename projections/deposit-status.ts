import { deposits } from '../src/domain/aggregates.ts';
import type { DepositEvent } from '../src/domain/deposit/events.ts';
import type { Projection } from '../src/views/projection.ts';
import { type DepositFields, newDeposit, statusChanges, withChange, withFacts } from './deposit-fields.ts';

/** The data of the State-IRI and of the list of a collection. */
export type DepositStatusView = DepositFields & {
  readonly title: string | null;
  readonly slug: string | null;
  /** Taken from the metadata. */
  readonly externalIdentifier: string | null;
  /** Set once the deposit is complete, like its origin. */
  readonly completedAt: string | null;
  readonly origin: string | null;
  /** Set once the deposit is done. */
  readonly loaded: LoadedIds | null;
  /** The object that a deposit without software describes, once it is done; `null` if that is an origin. */
  readonly about?: { readonly refId: string; readonly refIdContext: string } | null;
};

/** 40 hex digits each; with the origin they make the identifier with its context. */
type LoadedIds = {
  readonly directory: string;
  readonly revision: string;
  readonly snapshot: string;
  readonly origin: string;
};

/** Indexes by which the deposits of a client are listed in the order of their ids. */
export const depositLists = {
  all: ['client', 'collection', 'depositId'],
  ofStatus: ['client', 'collection', 'status', 'depositId'],
  ofOrigin: ['client', 'origin', 'collection', 'depositId', 'status'],
} as const;

const statuses = statusChanges<DepositStatusView>();

export const depositStatus: Projection<DepositStatusView, DepositEvent> = {
  name: 'deposit-status',
  version: 7,
  source: deposits,
  indexes: [...Object.values(depositLists), ['status', 'updatedAt']],
  countedBy: ['client', 'collection', 'status'],
  when: {
    DepositCreated: (_, event) => {
      const later = { title: null, externalIdentifier: null, completedAt: null, origin: null, loaded: null };
      return { ...newDeposit(event), slug: event.data.slug, ...later };
    },
    ArchiveAdded: (view, event) => view && withChange(view, event, {}),
    ArchivesReplaced: (view, event) => view && withChange(view, event, {}),
    ArchivesRemoved: (view, event) => view && withChange(view, event, {}),
    ArchiveReplaced: (view, event) => view && withChange(view, event, {}),
    ArchiveRemoved: (view, event) => view && withChange(view, event, {}),
    MetadataAdded: (view, event) => view && withChange(view, event, withFacts(view, event.data.entry.facts)),
    MetadataUpdated: (view, event) => view && withChange(view, event, {}), // single values stay as they are
    MetadataReplaced: (view, event) => {
      const { title, externalIdentifier } = event.data.entry.facts;
      return view && withChange(view, event, { title, externalIdentifier });
    },
    ...statuses,
    DepositCompleted: (view, event) => {
      const { completedAt, origin } = event.data;
      return view && statuses.DepositCompleted({ ...view, completedAt, origin }, event);
    },
    DepositLoaded: (view, event) => {
      const { directory, revision, snapshot, origin } = event.data;
      return (
        view && statuses.DepositLoaded({ ...view, loaded: { directory, revision, snapshot, origin } }, event)
      );
    },
    MetadataDeposited: (view, event) => {
      const { completedAt, target } = event.data;
      const about = target.kind === 'object' ? { refId: target.swhid, refIdContext: target.context } : null;
      return view && statuses.MetadataDeposited({ ...view, completedAt, about }, event);
    },
  },
};
