import { withDeposit } from '../deposit/find-deposit.ts';
import { printDeposit } from '../deposit/wait.ts';
import { COMMON_HELP, COMMON_OPTIONS, readArguments } from '../session.ts';

export const HELP = `Completes a partial deposit: the service then checks and loads it.

  deposit complete N [--wait] [options]

N is the number of the deposit or its Edit-IRI.
--wait   wait until the deposit is done, rejected or failed
${COMMON_HELP}
Exit codes: 0 success, 1 refused or failed, 2 wrong usage, 3 deposit rejected, or loading failed,
5 server unreachable or not ready.
`;

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...COMMON_OPTIONS, wait: { type: 'boolean' } });
  return withDeposit(positionals, values, async (opened) => {
    // Repeated for a complete deposit, the request changes nothing.
    await opened.connection.write('POST', opened.links.add, {
      headers: { 'In-Progress': 'false' },
      repeatable: true,
    });
    return printDeposit(opened, values);
  });
}
