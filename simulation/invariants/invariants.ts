import type { EndedHistory } from '../history/ended-history.ts';
import { stackOf } from '../world/stack-of.ts';
import { exclusiveClaims } from './claims.ts';
import { distinctIds, distinctRanges } from './deposit-ids.ts';
import { distinctEvents, isLegal, isOnce } from './deposit-streams.ts';
import { endedUploads } from './ended-uploads.ts';
import { deadlocks, expectedEnds, parkedEvents } from './ends.ts';
import { unbrokenChains } from './hash-chains.ts';
import { keptAcknowledgements, keptCommits, keptKeys, keptObjects, keptPieces } from './kept-promises.ts';
import { inOrder, notifiedOfAll, notifiedOnce, retriedInTime } from './notified.ts';
import { earlyOutages, falseConflicts, falseRefusals, surprisingAnswers } from './outages.ts';
import { ownWrites } from './own-writes.ts';
import { honestStandings } from './standing.ts';
import { surprises } from './surprises.ts';
import { viewsOfLog } from './views.ts';

/** Yields a sentence for each violation, with the values. */
export type Invariant = (history: EndedHistory) => Iterable<string>;

export type Violation = { readonly kind: string; readonly text: string };

/** All invariants, by the name under which a violation is reported. */
export const INVARIANTS = {
  // 1. Nothing lost
  lost: keptAcknowledgements,
  'commit-lost': keptCommits,
  'piece-lost': keptPieces,
  'object-lost': keptObjects,
  'upload-left': endedUploads,
  // 2. Nothing twice
  twice: isOnce,
  'event-twice': distinctEvents,
  'key-twice': keptKeys,
  // 3. Ids
  'ids-overlap': distinctRanges,
  'id-twice': distinctIds,
  // 4. Chain
  chain: unbrokenChains,
  // 5. Legal
  illegal: isLegal,
  // 6. Ends
  stuck: deadlocks,
  'wrong-end': expectedEnds,
  parked: parkedEvents,
  // 7. Notified
  unnotified: notifiedOfAll,
  // 8. In order
  order: inOrder,
  // 9. Read your writes
  'old-answer': ownWrites,
  // 10. Outages look like outages
  'early-outage': earlyOutages,
  'false-conflict': falseConflicts,
  'false-refusal': falseRefusals,
  answer: surprisingAnswers,
  // 11. Views
  view: viewsOfLog,
  // 12. No surprise
  surprise: surprises,
  // 13. Repetitions have a cause, waits are respected, claims are exclusive, standings are honest
  repeated: notifiedOnce,
  'early-retry': retriedInTime,
  claim: exclusiveClaims,
  standing: honestStandings,
} as const satisfies Readonly<Record<string, Invariant>>;

export function judge(history: EndedHistory): Violation[] {
  return Object.entries(INVARIANTS).flatMap(([kind, invariant]) =>
    textsOf(invariant, history).map((text) => ({ kind, text })),
  );
}

/** Events that no decider makes may break an invariant itself: that is a finding, too. */
function textsOf(invariant: Invariant, history: EndedHistory): string[] {
  try {
    return [...invariant(history)];
  } catch (error) {
    return [`it cannot be judged: ${stackOf(error)}`];
  }
}
