/** The names of all reactors. */
export const REACTORS = ['checker', 'loader'] as const;
/** Those and what follows deposits for others' sake: each may have events that wait for an operator. */
export const PARKING = [...REACTORS, 'notifier'] as const;

/** The groups in which they receive their events: those of the log, and the decisions about parked ones. */
export const RECEIVERS = PARKING.flatMap((name) => [name, retriesOf(name)]);

/** Returns the group in which a reactor receives what operators want tried again. */
export function retriesOf(reactor: string): string {
  return `${reactor}-retries`;
}
