import type { Session } from '../session.ts';
import { exitCodeOf, statusFacts, statusLines } from './format-status.ts';
import { statusOf } from './wait.ts';

/** Prints the status of a deposit; with `wait`, once it is final. Resolves to the exit code. */
export async function printDeposit(
  state: string,
  { wait = false }: { readonly wait?: boolean },
  session: Session,
): Promise<number> {
  const status = await statusOf(state, wait, session);
  session.output.result(statusFacts(status), ...statusLines(status));
  return exitCodeOf(status);
}
