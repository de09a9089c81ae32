import { deposits } from '../../src/domain/aggregates.ts';
import type { DepositEvent } from '../../src/domain/deposit/events.ts';
import type { Deposit } from '../../src/domain/deposit/state.ts';
import { nameOf, type StoredEvent } from '../cluster/stored-event.ts';
import type { EndedHistory } from '../history/ended-history.ts';
import { recorded } from '../history/recorded.ts';

const ONCE = ['DepositCreated', 'DepositCompleted', 'DepositDeleted'];
const ONCE_AN_ATTEMPT = [
  'DepositVerified',
  'DepositRejected',
  'LoadingStarted',
  'DepositLoaded',
  'LoadingFailed',
];

type Status = Deposit['status'];

/** The statuses in which an event can happen. */
const LEGAL: Readonly<Record<DepositEvent['type'], readonly Status[]>> = {
  DepositCreated: ['absent'],
  ArchiveAdded: ['partial'],
  ArchivesReplaced: ['partial'],
  ArchivesRemoved: ['partial'],
  ArchiveReplaced: ['partial'],
  ArchiveRemoved: ['partial'],
  MetadataAdded: ['partial'],
  MetadataReplaced: ['partial'],
  DepositCompleted: ['partial'],
  DepositDeleted: ['partial'],
  DepositVerified: ['deposited'],
  DepositRejected: ['deposited'],
  CopyUnreadable: ['deposited', 'verified', 'loading'],
  ChecksRetried: ['deposited', 'rejected'],
  LoadingStarted: ['verified'],
  DepositLoaded: ['loading'],
  LoadingFailed: ['loading'],
  LoadingRetried: ['verified', 'loading', 'failed'],
  MetadataUpdated: ['done'],
  MetadataDeposited: ['partial'],
};

/** Yields the streams of deposits. */
export function* depositStreams({ log }: EndedHistory): Generator<readonly [string, readonly StoredEvent[]]> {
  for (const [stream, events] of log.streams) if (stream.startsWith(deposits.prefix)) yield [stream, events];
}

/** No event happens twice, or twice in the same attempt. */
export function* isOnce(history: EndedHistory): Generator<string> {
  for (const [stream, events] of depositStreams(history)) {
    const seen = new Set<string>();
    for (const { type, data } of events) {
      if (!ONCE.includes(type) && !ONCE_AN_ATTEMPT.includes(type)) continue;
      const name = ONCE.includes(type) ? type : `${type} of attempt ${String(data['attempt'])}`;
      if (seen.has(name)) yield `${stream} has ${name} twice`;
      seen.add(name);
    }
  }
}

/** Each event has an id of its own. */
export function* distinctEvents({ log }: EndedHistory): Generator<string> {
  const seen = new Map<string, StoredEvent>();
  for (const event of log.events) {
    const first = seen.get(event.id);
    if (first) yield `${nameOf(first)} and ${nameOf(event)} have the same id`;
    seen.set(event.id, event);
  }
}

/** Each event can happen in the status before it. */
export function* isLegal(history: EndedHistory): Generator<string> {
  for (const [stream, events] of depositStreams(history)) {
    let state = deposits.decider.initial;
    for (const stored of events) {
      const event = deposits.codec.read(recorded(stored));
      if (!LEGAL[event.type].includes(state.status))
        yield `${event.type} ${stream}@${stored.revision} happened to a deposit that is ${state.status}`;
      state = deposits.decider.evolve(state, event);
    }
  }
}
