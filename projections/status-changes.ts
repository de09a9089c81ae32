import type { DepositEvent, Reason } from '../src/domain/deposit/events.ts';
import {
  metadataDetail,
  type Status,
  statusDetail,
  UNREADABLE,
} from '../src/domain/deposit/status-detail.ts';
import type { Projection, Recorded } from '../src/read-models/projection.ts';

/** What every view of a deposit tells of its way. */
export type OnItsWay = {
  /** Of the last event of the deposit. */
  readonly revision: number;
  readonly updatedAt: string;
  readonly status: Status;
  readonly statusDetail: string;
  /** Of the checks that it passed, told beside each later status. */
  readonly warnings?: readonly Reason[];
};

/** The beginning of the way. */
export function begun({ revision, occurredAt }: Recorded): OnItsWay {
  return { revision, updatedAt: occurredAt, status: 'partial', statusDetail: statusDetail('partial', []) };
}

/** The handlers of the events by which a deposit gets another status, or another detail. */
export function statusChanges<View extends OnItsWay>(): Pick<
  Projection<View, DepositEvent>['when'],
  StatusChange
> {
  return {
    DepositCompleted: (view, event) => view && inStatus(view, event, 'deposited'),
    DepositVerified: (view, event) =>
      view && inStatus(warnedOf(view, event.data.warnings), event, 'verified'),
    DepositRejected: (view, event) =>
      view &&
      inStatus(view, event, 'rejected', statusDetail('rejected', event.data.reasons, event.data.warnings)),
    CopyUnreadable: (view, event) =>
      view && changed(view, event, { statusDetail: UNREADABLE } as Partial<View>),
    ChecksRetried: (view, event) => view && inStatus(view, event, 'deposited'),
    LoadingStarted: (view, event) => view && inStatus(view, event, 'loading'),
    LoadingFailed: (view, event) =>
      view && inStatus(view, event, 'failed', statusDetail('failed', [event.data.reason], view.warnings)),
    LoadingRetried: (view, event) => view && inStatus(view, event, 'verified'),
    DepositLoaded: (view, event) => view && inStatus(view, event, 'done'),
    MetadataDeposited: (view, event) =>
      view && inStatus(view, event, 'done', metadataDetail(event.data.warnings)),
    DepositDeleted: () => undefined,
  };
}

/** A change that leaves the status as it is. */
export function changed<View extends OnItsWay>(
  view: View,
  { revision, occurredAt }: Recorded,
  change: Partial<View>,
): View {
  return { ...view, ...change, revision, updatedAt: occurredAt };
}

function warnedOf<View extends OnItsWay>(view: View, warnings: readonly Reason[]): View {
  return warnings.length > 0 ? { ...view, warnings } : view;
}

type StatusChange =
  | 'DepositCompleted'
  | 'DepositVerified'
  | 'DepositRejected'
  | 'CopyUnreadable'
  | 'ChecksRetried'
  | 'LoadingStarted'
  | 'LoadingFailed'
  | 'LoadingRetried'
  | 'DepositLoaded'
  | 'MetadataDeposited'
  | 'DepositDeleted';

function inStatus<View extends OnItsWay>(
  view: View,
  { revision, occurredAt }: Recorded,
  status: Status,
  detail = statusDetail(status, [], view.warnings),
): View {
  return { ...view, revision, updatedAt: occurredAt, status, statusDetail: detail };
}
