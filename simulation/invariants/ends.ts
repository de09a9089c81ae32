import type { Deposit } from '../../src/domain/deposit/state.ts';
import { stateOf } from '../history/deposit-state.ts';
import type { EndedHistory } from '../history/ended-history.ts';
import { namesLostObject } from '../history/lost-objects.ts';
import { everParked, stillParked } from '../history/parked.ts';
import { depositStreams } from './deposit-streams.ts';

type Ended = Extract<Deposit, { readonly status: 'done' | 'rejected' | 'failed' }>;

/** A deposit that is complete comes to an end. */
export function* deadlocks(history: EndedHistory): Generator<string> {
  for (const [stream, events] of depositStreams(history)) {
    const state = stateOf(events);
    if (['deposited', 'verified', 'loading'].includes(state.status))
      yield `${stream} is still ${state.status}`;
  }
}

/** Checks that only its archives decide how a deposit ends: faults of engines are never the client's. */
export function* expectedEnds(history: EndedHistory): Generator<string> {
  for (const [stream, events] of depositStreams(history)) {
    const state = stateOf(events);
    if (!isEnded(state)) continue;
    const expected = endOf(state, history);
    if (state.status !== expected)
      yield `${stream} is ${state.status} and should be ${expected}${reasonOf(state)}`;
  }
}

/** Nothing is left to an operator. Only events of deposits of which the store had lost an object were ever parked. */
export function* parkedEvents({ log, store }: EndedHistory): Generator<string> {
  for (const { reactor, stream, revision, reason } of stillParked(log))
    yield `the ${reactor} still has ${stream}@${revision} parked: ${reason}`;
  for (const { reactor, stream, revision, reason } of everParked(log))
    if (!namesLostObject(log.stream(stream), store))
      yield `the ${reactor} parked ${stream}@${revision}: ${reason}`;
}

function isEnded(state: Deposit): state is Ended {
  return ['done', 'rejected', 'failed'].includes(state.status);
}

function endOf({ archives }: Ended, { archiveKinds }: EndedHistory): Ended['status'] {
  const kinds = archives.map(({ sha256 }) => archiveKinds.get(sha256));
  if (kinds.length === 0 || kinds.includes('damaged')) return 'rejected';
  if (!kinds.includes('clashing')) return 'done';
  return kinds.length > 1 ? 'rejected' : 'failed'; // several are merged when they are checked
}

function reasonOf(state: Ended): string {
  if (state.status === 'rejected') return `: ${state.reasons.map(({ text }) => text).join('; ')}`;
  return state.status === 'failed' ? `: ${state.reason.text}` : '';
}
