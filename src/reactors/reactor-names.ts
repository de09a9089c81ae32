/** The reactors that deposits wait for. */
export const DEPOSIT_REACTORS = ['checker', 'loader'] as const;
/** All reactors: of each, events may wait for an operator. */
export const ALL_REACTORS = [...DEPOSIT_REACTORS, 'notifier'] as const;

/** The statuses that a reactor must end, with the name of the reactor and the events that start its work. */
export const AWAITED = {
  deposited: { reactor: 'checker', begins: new Set<string>(['DepositCompleted', 'ChecksRetried']) },
  verified: { reactor: 'loader', begins: new Set<string>(['DepositVerified', 'LoadingRetried']) },
  loading: { reactor: 'loader', begins: new Set<string>(['DepositVerified', 'LoadingRetried']) },
} as const;

export const RECEIVERS = receiversOf(ALL_REACTORS);

/** Returns the receivers of these reactors: for each one of the log, and one of decisions about its parked events. */
export function receiversOf(reactors: readonly string[]): readonly string[] {
  return reactors.flatMap((name) => [name, retriesOf(name)]);
}

/** Returns the receiver by which a reactor gets the events that operators retry. */
export function retriesOf(reactor: string): string {
  return `${reactor}-retries`;
}
