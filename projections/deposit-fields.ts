import type { DepositEvent, EntryFacts, Reason } from '../src/domain/deposit/events.ts';
import {
  metadataDetail,
  STATUS_AFTER,
  type Status,
  statusDetail,
  UNREADABLE,
} from '../src/domain/deposit/status-detail.ts';
import type { Projection, Recorded } from '../src/views/projection.ts';

/** The fields that every view of a deposit has. */
export type DepositFields = {
  readonly depositId: number;
  readonly uuid: string;
  readonly client: string;
  readonly collection: string;
  readonly createdAt: string;
  /** Revision of the last event of the deposit. */
  readonly revision: number;
  readonly updatedAt: string;
  readonly status: Status;
  readonly statusDetail: string;
  /** Warnings of the checks that the deposit passed, shown with each later status. */
  readonly warnings?: readonly Reason[];
};

export function newDeposit({
  data: { depositId, uuid, client, collection, createdAt },
  revision,
  occurredAt,
}: Extract<DepositEvent, { type: 'DepositCreated' }> & Recorded): DepositFields {
  const status = { status: 'partial', statusDetail: statusDetail('partial', []) } as const;
  return { revision, updatedAt: occurredAt, ...status, depositId, uuid, client, collection, createdAt };
}

type StatusEvent = Exclude<keyof typeof STATUS_AFTER, 'DepositCreated'>;
type Handlers<View> = Projection<View, DepositEvent>['when'];

/** Returns the handlers of the events by which a deposit gets another status, or another detail. */
export function statusChanges<View extends DepositFields>() {
  return {
    DepositCompleted: (view, event) => view && withStatus(view, event),
    DepositVerified: (view, event) => view && withStatus(withWarnings(view, event.data.warnings), event),
    DepositRejected: (view, event) =>
      view && withStatus(view, event, statusDetail('rejected', event.data.reasons, event.data.warnings)),
    CopyUnreadable: (view, event) =>
      view && withChange(view, event, { statusDetail: UNREADABLE } as Partial<View>),
    ChecksRetried: (view, event) => view && withStatus(view, event),
    LoadingStarted: (view, event) => view && withStatus(view, event),
    LoadingFailed: (view, event) =>
      view && withStatus(view, event, statusDetail('failed', [event.data.reason], view.warnings)),
    LoadingRetried: (view, event) => view && withStatus(view, event),
    DepositLoaded: (view, event) => view && withStatus(view, event),
    MetadataDeposited: (view, event) => view && withStatus(view, event, metadataDetail(event.data.warnings)),
    DepositDeleted: () => undefined,
  } satisfies Required<Pick<Handlers<View>, StatusEvent | 'CopyUnreadable'>>;
}

/** Returns the view with a change that leaves the status as it is. */
export function withChange<View extends DepositFields>(
  view: View,
  { revision, occurredAt }: Recorded,
  change: Partial<View>,
): View {
  return { ...view, ...change, revision, updatedAt: occurredAt };
}

/** Returns the fields with the values of an entry; a single-valued field has its first value. */
export function withFacts({ title, externalIdentifier }: SingleValues, facts: SingleValues): SingleValues {
  return {
    title: title ?? facts.title,
    externalIdentifier: externalIdentifier ?? facts.externalIdentifier,
  };
}

type SingleValues = Pick<EntryFacts, 'title' | 'externalIdentifier'>;

function withWarnings<View extends DepositFields>(view: View, warnings: readonly Reason[]): View {
  return warnings.length > 0 ? { ...view, warnings } : view;
}

function withStatus<View extends DepositFields>(
  view: View,
  { type, revision, occurredAt }: Recorded & { readonly type: Exclude<StatusEvent, 'DepositDeleted'> },
  detail = statusDetail(STATUS_AFTER[type], [], view.warnings),
): View {
  const status = STATUS_AFTER[type];
  return { ...view, revision, updatedAt: occurredAt, status, statusDetail: detail };
}
