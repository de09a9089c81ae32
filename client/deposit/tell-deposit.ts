import type { Session } from '../session.ts';
import { exitCodeOf, statusFacts, statusLines } from './tell-status.ts';
import { statusOf } from './wait.ts';

/** Tells how far a deposit is, with `wait` once that is final; resolves to the exit code. */
export async function tellDeposit(
  state: string,
  { wait = false }: { readonly wait?: boolean },
  session: Session,
): Promise<number> {
  const status = await statusOf(state, wait, session);
  session.output.result(statusFacts(status), ...statusLines(status));
  return exitCodeOf(status);
}
