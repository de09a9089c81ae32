import type { Session } from '../session.ts';
import { exitCodeOf, statusFacts, statusLines } from './tell-status.ts';
import { finalStatus, statusAt } from './wait.ts';

/** Tells how far a deposit is, with `wait` once that is final; resolves to the exit code. */
export async function tellDeposit(
  state: string,
  { wait = false }: { readonly wait?: boolean },
  { connection, output }: Session,
): Promise<number> {
  const status = wait
    ? await finalStatus(connection, state, (text) => output.note(text))
    : await statusAt(connection, state);
  output.result(statusFacts(status), ...statusLines(status));
  return exitCodeOf(status);
}
