/** The names of all reactors. */
export const REACTORS = ['checker', 'loader'] as const;
/** All consumers that may have events waiting for an operator: the reactors, and the notifier. */
export const REACTORS_WITH_PARKING = [...REACTORS, 'notifier'] as const;

/** Consumer groups: one per name for the log, and one for the decisions about its parked events. */
export const RECEIVERS = REACTORS_WITH_PARKING.flatMap((name) => [name, retriesOf(name)]);

/** Returns the consumer group in which a reactor receives the events that operators retry. */
export function retriesOf(reactor: string): string {
  return `${reactor}-retries`;
}
