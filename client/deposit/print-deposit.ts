import type { Session } from '../session.ts';
import { exitCodeOf, statusFacts, statusLines } from './format-status.ts';
import { type Asked, statusOf } from './wait.ts';

/** Prints the status of a deposit; with `wait`, once it is final. Resolves to the exit code. */
export async function printDeposit(
  asked: Asked,
  { wait = false }: { readonly wait?: boolean },
  session: Session,
): Promise<number> {
  const status = await statusOf(asked, wait, session);
  session.output.result(statusFacts(status), ...statusLines(status));
  return exitCodeOf(status);
}
