import { STATUS_AFTER, type Status } from '../domain/deposit/status-detail.ts';

/** The reactors that deposits wait for. */
export const DEPOSIT_REACTORS = ['checker', 'loader'] as const;
/** All reactors: of each, events may wait for an operator. */
export const ALL_REACTORS = [...DEPOSIT_REACTORS, 'notifier'] as const;

/** The statuses that a reactor must end, with the name of the reactor and the events that start its work. */
export const AWAITED = {
  deposited: { reactor: 'checker', begins: beginningsOf('deposited') },
  verified: { reactor: 'loader', begins: beginningsOf('verified') },
  loading: { reactor: 'loader', begins: beginningsOf('verified') },
} as const;

export type AwaitedStatus = keyof typeof AWAITED;

export function isAwaited(status: string): status is AwaitedStatus {
  return Object.hasOwn(AWAITED, status);
}

/** Returns the types of the events with which a status begins. */
function beginningsOf(wanted: Status): ReadonlySet<string> {
  return new Set(Object.entries(STATUS_AFTER).flatMap(([type, status]) => (status === wanted ? [type] : [])));
}

export const RECEIVERS = receiversOf(ALL_REACTORS);

/** Returns the receivers of these reactors: for each one of the log, and one of decisions about its parked events. */
export function receiversOf(reactors: readonly string[]): readonly string[] {
  return reactors.flatMap((name) => [name, retriesOf(name)]);
}

/** Returns the receiver by which a reactor gets the events that operators retry. */
export function retriesOf(reactor: string): string {
  return `${reactor}-retries`;
}
