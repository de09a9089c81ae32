import type { EndedHistory } from '../history/ended-history.ts';

/** No node fails, hangs or logs an error, no promise is rejected unheard, and no work repeats itself for ever. */
export function* surprises({
  unhandled,
  failures,
  absent,
  errors,
  steps,
  isCutOff,
}: EndedHistory): Generator<string> {
  for (const text of unhandled) yield `unhandled: ${text}`;
  for (const text of failures) yield `a node cannot go on: ${text}`;
  for (const name of absent) yield `${name} is not ready, although nothing has been wrong for long`;
  for (const text of errors) yield `logged as an error: ${text}`;
  if (isCutOff) yield `${steps} steps, and no end`;
}
