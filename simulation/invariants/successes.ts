import type { Answer, Success } from '../history/answer.ts';
import type { EndedHistory } from '../history/ended-history.ts';

/** Yields the answers that acknowledged something. */
export function* successes({ answers }: EndedHistory): Generator<Answer & { readonly outcome: Success }> {
  for (const answer of answers) {
    const { outcome } = answer;
    if (outcome.kind === 'success') yield { ...answer, outcome };
  }
}
