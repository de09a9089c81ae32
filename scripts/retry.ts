import { readConfig } from '../src/config/read-config.ts';
import { AdminCommands } from '../src/deposits/admin-commands.ts';
import { readArguments, wholeNumber } from '../src/operations/command/arguments.ts';
import { operator, runCommand, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say, warn } from '../src/operations/command/output.ts';
import { openServiceLog } from '../src/operations/command/service-engines.ts';
import { depositRetries, whyNotRetried } from '../src/operations/deposits/deposit-retries.ts';
import { depositsToRetry, type Wanted } from '../src/operations/deposits/deposits-to-retry.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';

const HELP = `Lets the service load failed deposits again, check rejected ones again, or start stuck ones again.

Usage: deposit-service retry ID… [--recheck] [--json]
       deposit-service retry --status failed|rejected [--json]
       deposit-service retry --stuck [--json]
       deposit-service retry --reason CODE [--json]

--recheck  also rejected deposits, after the rule or the configuration at fault was changed
--status   all in this state, from the views of this node; rejected implies --recheck
--stuck    all that wait for checks or loading and have not changed for longer than DEPOSIT_STUCK_AFTER
--reason   all that were rejected or failed for this reason, or wait for an object: OBJECT_MISSING, OBJECT_CORRUPT or
           OBJECT_UNREADABLE. Those continue by themselves within a minute or two once the object is readable

--json     one JSON object per deposit: event and attempt, or code and reason if it is not retried

Each gets an event that names you: ChecksRetried for a deposit that is deposited or rejected, LoadingRetried for one that
is verified, loading or failed. A late outcome of the attempt before then changes nothing. For a deposit that waits for an
object the event is ParkedRetried, which begins no new attempt.

Exit codes: 0 all are retried, 1 some are not (each with its reason), 2 wrong usage.
`;

const OPTIONS = {
  recheck: { type: 'boolean' },
  status: { type: 'string' },
  stuck: { type: 'boolean' },
  reason: { type: 'string' },
  json: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  const wanted = wantedOf(positionals, values);
  const config = readConfig();
  await using log = await openServiceLog(config);
  const administration = new AdminCommands(log, operator(config));
  let [seen, refused] = [0, 0];
  const refuse = (depositId: number, error: unknown): void => {
    const { code, message: reason } = whyNotRetried(depositId, error);
    refused += 1;
    if (values.json) say(jsonLine({ depositId, code, reason }));
    else warn(reason);
  };
  const ids = await depositsToRetry(config, log, wanted, refuse);
  const retry = await depositRetries(log, administration);
  // By now a rejected one may have been checked again, and no longer be rejected.
  const isAllRejected = 'status' in wanted && wanted.status === 'rejected';
  const how = isAllRejected ? 'check' : (values.recheck ?? 'reason' in wanted) ? 'recheck' : 'retry';
  using bars = new ProgressBars();
  for (const depositId of ids) {
    try {
      const appended = await retry(depositId, how);
      say(
        values.json
          ? jsonLine({ depositId, ...appended })
          : `Deposit ${depositId}: ${appended.event}, attempt ${appended.attempt}.`,
      );
    } catch (error) {
      refuse(depositId, error);
    }
    bars.at('deposits read', (seen += 1), ids.length);
  }
  if (!values.json && ids.length + refused === 0) say(noDeposit(wanted));
  return refused > 0 ? 1 : 0;
});

function wantedOf(positionals: readonly string[], { status, stuck = false, reason }: Values): Wanted {
  const ways = [positionals.length > 0, status !== undefined, stuck, reason !== undefined].filter(Boolean);
  if (ways.length === 0) throw new UsageError('Give ids of deposits, --status, --stuck or --reason.');
  if (ways.length > 1)
    throw new UsageError('Ids of deposits, --status, --stuck and --reason cannot be combined.');
  if (stuck) return { status: 'stuck' };
  if (reason !== undefined) return { reason };
  if (status === 'failed' || status === 'rejected') return { status };
  if (status !== undefined) throw new UsageError(`--status must be failed or rejected, not ${status}.`);
  return { ids: [...new Set(positionals.map(idIn))] };
}

function idIn(text: string): number {
  const id = wholeNumber(text);
  if (id === undefined) throw new UsageError(`'${text}' is not a deposit id: give numbers from 1.`);
  return id;
}

function noDeposit(wanted: Wanted): string {
  if ('reason' in wanted) return `No deposit waits, was rejected or failed for the reason ${wanted.reason}.`;
  return `No deposit is ${'status' in wanted ? wanted.status : 'named'}.`;
}
