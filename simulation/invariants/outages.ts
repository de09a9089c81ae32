import { deposits } from '../../src/domain/aggregates.ts';
import type { Answer, Failure } from '../history/answer.ts';
import type { EndedHistory } from '../history/ended-history.ts';

/** A request is tried for 20 seconds; the last pause, of two seconds and a quarter at most, is not begun beyond that. */
const SHORTEST_RETRIES_MS = 17_500;
/** Writes of others without which no request is refused as outrun by them. */
const LEAST_WRITES = 15;

const EXPECTED_CODES = new Set([
  'ARCHIVE_STORE_UNAVAILABLE',
  'CONCURRENT_WRITES',
  'EVENT_LOG_UNAVAILABLE',
  'DEPOSIT_NOT_DONE',
  'ServiceUnavailable',
  'DEPOSIT_NOT_FOUND',
  'DEPOSIT_NOT_PARTIAL',
]);

/** The log is reported as unavailable only after all retries; an embedded one, at once, while its disk refuses writes. */
export function* earlyOutages(history: EndedHistory): Generator<string> {
  for (const answer of failures(history)) {
    const { command, deposit, node, took, wasPaused, outcome } = answer;
    if (outcome.code !== 'EVENT_LOG_UNAVAILABLE' || wasPaused || took >= SHORTEST_RETRIES_MS) continue;
    if (isOfEmbedded(answer, history)) continue;
    yield `${command} of ${deposit} by ${node} gave up after ${(took / 1000).toFixed(1)} s: ${outcome.message}`;
  }
}

/** An embedded log is not asked again: its disk refuses writes. */
function isOfEmbedded({ begunAt, endedAt }: Answer, { faults, plan }: EndedHistory): boolean {
  if (plan.composition !== 'embedded') return false;
  return faults.some(
    ({ kind, from, until }) =>
      ['full-disk', 'refused-writes', 'failed-read'].includes(kind) && from <= endedAt && until >= begunAt,
  );
}

/** A conflict is reported only if others have written to the stream. */
export function* falseConflicts(history: EndedHistory): Generator<string> {
  for (const { command, deposit, begunAt, outcome } of failures(history)) {
    if (outcome.code !== 'CONCURRENT_WRITES') continue;
    const [stream = ''] = outcome.message.split(' ');
    const writes = history.log.stream(stream).filter(({ committedAt }) => committedAt >= begunAt).length;
    if (writes < LEAST_WRITES)
      yield `${command} of ${deposit} was refused after ${writes} writes of others: ${outcome.message}`;
  }
}

/** The events without which no request is refused by these codes. */
const REASONS: Readonly<Record<string, string>> = {
  DEPOSIT_NOT_FOUND: 'DepositDeleted',
  DEPOSIT_NOT_PARTIAL: 'DepositCompleted',
};

/** A deposit that a client knows is missing only once it was deleted, and cannot be changed only once it was completed. */
export function* falseRefusals(history: EndedHistory): Generator<string> {
  for (const answer of failures(history)) {
    const { command, deposit, node, endedAt, outcome } = answer;
    const reason = REASONS[outcome.code];
    if (reason === undefined || mayBeOfOldLeader(answer, history)) continue;
    const [, id] = /^Deposit (\d+) /.exec(outcome.message) ?? [];
    const events = history.log.stream(`${deposits.prefix}${id}`);
    if (!events.some(({ type, committedAt }) => type === reason && committedAt <= endedAt))
      yield `${command} of ${deposit} by ${node} was refused without ${reason}: ${outcome.message}`;
  }
}

/** A leader that was deposed does not have what was committed since, and nothing in its answer shows that. */
function mayBeOfOldLeader({ begunAt, endedAt }: Answer, { faults }: EndedHistory): boolean {
  return faults.some(({ kind, from, until }) => kind === 'partition' && from <= endedAt && until >= begunAt);
}

/** A request is refused for its own reasons, or because an engine is away. */
export function* surprisingAnswers(history: EndedHistory): Generator<string> {
  for (const { command, deposit, node, outcome } of failures(history))
    if (!EXPECTED_CODES.has(outcome.code))
      yield `${command} of ${deposit} by ${node}: ${outcome.name} ${outcome.code} ${outcome.message}`;
  for (const text of history.unanswered) yield text;
}

function* failures({ answers }: EndedHistory) {
  for (const answer of answers) {
    const { outcome, begunAt, endedAt } = answer;
    if (outcome.kind === 'failure')
      yield { ...answer, outcome: outcome satisfies Failure, took: endedAt - begunAt };
  }
}
