import { withDeposit } from '../deposit/find-deposit.ts';
import { EXIT, numberOrIri } from '../faults.ts';
import { isSuccess } from '../http/connection.ts';
import { Refused } from '../http/refused.ts';
import { COMMON_HELP, COMMON_OPTIONS, readArguments } from '../session.ts';

export const HELP = `Deletes a partial deposit.

  deposit delete N [options]

N is the number of the deposit or its Edit-IRI.
${COMMON_HELP}
Exit codes: 0 success, 1 refused or failed, 2 wrong usage, 5 server unreachable or not ready.
`;

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, COMMON_OPTIONS);
  return withDeposit(positionals, values, async ({ connection, output, deposit, links }) => {
    const answer = await connection.ask('DELETE', links.edit, { repeatable: true });
    // Missing only now: the first attempt deleted it, but its answer was lost.
    if (!isSuccess(answer) && !(answer.repeated && answer.status === 404)) throw new Refused(answer);
    output.result({ deposit: numberOrIri(deposit), deleted: true }, `Deposit ${deposit} deleted.`);
    return EXIT.done;
  });
}
