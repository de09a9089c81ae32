import { deposits } from '../../src/domain/aggregates.ts';
import type { Deposit } from '../../src/domain/deposit/state.ts';
import type { StoredEvent } from '../cluster/stored-event.ts';
import { recorded } from './recorded.ts';

/** Returns a deposit as its events have made it. */
export function stateOf(events: readonly StoredEvent[]): Deposit {
  const { decider, codec } = deposits;
  return events.reduce(
    (state, stored) => decider.evolve(state, codec.read(recorded(stored))),
    decider.initial,
  );
}
