import type { DepositEvent, Reason } from '../../domain/deposit/events.ts';
import type { NewEvent } from '../../event-log/event-log.ts';
import type { Instruments } from './instruments.ts';

const OUTCOMES = {
  DepositVerified: 'verified',
  DepositRejected: 'rejected',
  DepositLoaded: 'loaded',
  LoadingFailed: 'failed',
} as const satisfies Partial<Record<DepositEvent['type'], string>>;

/** Counts the outcomes of checks and loads on the node that performed them. */
export class OutcomeMetrics {
  readonly #outcomes;
  readonly #reasons;

  constructor(make: Instruments) {
    this.#outcomes = make.counter('outcomes_total', 'Checks and loads of this node, by how they ended', [
      'outcome',
    ]);
    this.#reasons = make.counter(
      'outcome_reasons_total',
      'Reasons why deposits were rejected or could not be loaded, each once a deposit',
      ['outcome', 'reason'],
    );
    for (const outcome of Object.values(OUTCOMES)) this.#outcomes.inc({ outcome }, 0);
  }

  count(events: readonly NewEvent[]): void {
    for (const { type, data } of events) {
      if (!(type in OUTCOMES)) continue;
      const outcome = OUTCOMES[type as keyof typeof OUTCOMES];
      this.#outcomes.inc({ outcome });
      for (const reason of codesIn(data)) this.#reasons.inc({ outcome, reason });
    }
  }
}

/**
 * Returns the codes of the reasons. Codes are constants of this service, so their number is limited. The data
 * are those of the events above.
 */
function codesIn(data: object): ReadonlySet<string> {
  const { reasons = [], reason } = data as { reasons?: readonly Reason[]; reason?: Reason };
  return new Set([...reasons, ...(reason ? [reason] : [])].map(({ code }) => code));
}
