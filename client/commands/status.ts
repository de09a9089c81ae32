import { withDeposit } from '../deposit/find-deposit.ts';
import { printDeposit } from '../deposit/wait.ts';
import { COMMON_HELP, COMMON_OPTIONS, readArguments } from '../session.ts';

export const HELP = `Shows the status of a deposit, and its identifier once it is done.

  deposit status N [--wait] [options]

N is the number of the deposit or its Edit-IRI.
--wait   wait until the deposit is done, rejected or failed
${COMMON_HELP}
Exit codes: 0 success, 1 refused or failed, 2 wrong usage, 3 deposit rejected, or loading failed,
5 server unreachable or not ready.
`;

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...COMMON_OPTIONS, wait: { type: 'boolean' } });
  return withDeposit(positionals, values, (opened) => printDeposit(opened, values));
}
