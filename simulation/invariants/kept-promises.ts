import { deposits } from '../../src/domain/aggregates.ts';
import { referencedObjects } from '../../src/domain/deposit/objects-of-events.ts';
import type { EndedHistory } from '../history/ended-history.ts';
import { keyOf } from '../history/lost-objects.ts';
import { recorded } from '../history/recorded.ts';
import { successes } from './successes.ts';

/** Checks that everything acknowledged to a client is in the log. */
export function* keptAcknowledgements(history: EndedHistory): Generator<string> {
  for (const { command, isFinal, outcome } of successes(history)) {
    const { depositId, revision } = outcome;
    const stored = history.log.stream(`deposit-${depositId}`);
    if (stored.length <= revision)
      yield `${command} of deposit ${depositId} was acknowledged at revision ${revision}, but the stream has ${stored.length} events`;
    else if (isFinal && !stored.some(({ type }) => type === 'DepositCompleted'))
      yield `the completion of deposit ${depositId} was acknowledged, but is not in the log`;
  }
}

/** Checks that the file of an embedded log holds what was committed, whatever happened to its disk. */
export function* keptCommits({ logFaults }: EndedHistory): Generator<string> {
  yield* logFaults;
}

/** Checks that no piece of an upload is lost that was acknowledged. */
export function* keptPieces({ pieceFaults }: EndedHistory): Generator<string> {
  yield* pieceFaults;
}

/** Checks that every object named by an event is in the store, embedded as a whole. */
export function* keptObjects({ log, store }: EndedHistory): Generator<string> {
  for (const event of log.events) {
    if (!event.streamId.startsWith(deposits.prefix)) continue;
    for (const sha256 of referencedObjects(deposits.codec.read(recorded(event)))) {
      const key = keyOf(sha256);
      if (store.objects.has(key) && !store.altered.has(key)) continue;
      yield `${event.type} ${event.streamId}@${event.revision} names ${sha256}, which is not in the store, or damaged there`;
    }
  }
}

/** All answers to one key name one deposit. */
export function* keptKeys(history: EndedHistory): Generator<string> {
  const deposits = new Map<string, number>();
  for (const { key, outcome } of successes(history)) {
    if (key === undefined) continue;
    const first = deposits.getOrInsert(key, outcome.depositId);
    if (first !== outcome.depositId) yield `${key} made deposits ${first} and ${outcome.depositId}`;
  }
}
