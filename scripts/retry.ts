import { Administration } from '../src/administration.ts';
import { load } from '../src/command-handler.ts';
import { readConfig } from '../src/config.ts';
import { deposits } from '../src/domain/aggregates.ts';
import type { DepositCommand } from '../src/domain/deposit/commands.ts';
import { openLog } from '../src/engines.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import { operator, readArguments, runCommand, say, UsageError } from './command.ts';

const HELP = `Has the service load failed deposits again, or check rejected ones again.

  npm run retry -- ID… [--recheck]

--recheck: also deposits that were rejected, after the rule or the configuration at fault was changed.
Each gets an event that names you. Exit codes: 0 all are tried again, 1 some are not (the reason is told), 2 wrong usage.
`;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, { recheck: { type: 'boolean' } });
  const ids = positionals.map(Number);
  if (ids.length === 0 || ids.some((id) => !Number.isSafeInteger(id) || id < 1)) {
    throw new UsageError('Name deposits by their ids, numbers from 1.');
  }
  await using log = await openLog(readConfig());
  const administration = new Administration(log, operator());
  let refusals = 0;
  for (const depositId of ids) {
    try {
      await administration.deposit(depositId, await commandFor(log, depositId, values.recheck));
      say(`Deposit ${depositId} is tried again.`);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      refusals += 1;
      process.stderr.write(`${error.message}\n`);
    }
  }
  return refusals > 0 ? 1 : 0;
});

/** What fits the deposit as it is; the rules say no to what does not. */
async function commandFor(log: EventLog, depositId: number, recheck = false): Promise<DepositCommand> {
  const { state } = await load(log, deposits, depositId);
  if (recheck && state.status === 'rejected') return { type: 'RetryChecks', depositId };
  return { type: 'RetryLoading', depositId };
}
