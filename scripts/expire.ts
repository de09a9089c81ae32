import { depositStatus } from '../projections/deposit-status.ts';
import type { Config } from '../src/config/config.ts';
import { readConfig } from '../src/config/read-config.ts';
import { AdminCommands } from '../src/deposits/admin-commands.ts';
import { pluralize } from '../src/domain/description.ts';
import { duration, readOptions } from '../src/operations/command/arguments.ts';
import { operator, runCommand, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say } from '../src/operations/command/output.ts';
import { openServiceLog } from '../src/operations/command/service-engines.ts';
import { untilInEffect } from '../src/operations/command/take-effect.ts';
import { type AbandonedDeposit, abandonedDeposits } from '../src/operations/deposits/abandoned-deposits.ts';
import { openView } from '../src/service/backends/open-view.ts';
import { clock } from '../src/tools/clock.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';

const HELP = `Deletes partial deposits that have not changed for a time. Each gets an event with the reason, which names you.

Usage: deposit-service expire --older-than 30d [--dry-run] [--json]

--older-than  duration without a change, as in 45s, 90m, 24h or 30d
--dry-run     only report what would be deleted
--json        one JSON object per deposit; expired is false if it has changed in the meantime

Clients then get 404; the history stays. A deposit that changes meanwhile is left unchanged.

Exit codes: 0 done, 1 failed, 2 wrong usage.
`;

await runCommand(HELP, async (args) => {
  const values = readOptions(args, {
    'older-than': { type: 'string' },
    'dry-run': { type: 'boolean' },
    json: { type: 'boolean' },
  });
  const age = values['older-than'];
  if (age === undefined) throw new UsageError('--older-than is missing, as in --older-than 30d.');
  const changedBefore = new Date(clock.now() - duration(age)).toISOString();
  const config = readConfig();
  await using log = await openServiceLog(config);
  const administration = new AdminCommands(log, operator(config));
  const reason = `Abandoned: it was left partial for longer than ${age}`;
  const isDryRun = values['dry-run'] ?? false;
  let expired = 0;
  using bars = new ProgressBars();
  for (const { depositId, revision, updatedAt } of abandoned(config, changedBefore)) {
    const command = { type: 'DeleteDeposit', depositId, reason } as const;
    const isDone =
      isDryRun ||
      (await administration.deposit(depositId, command, { atRevision: revision }).catch(unlessChanged));
    if (isDone) expired += 1;
    if (values.json) say(jsonLine({ depositId, updatedAt, expired: isDone, dryRun: isDryRun }));
    else say(`${depositId}  last changed ${updatedAt}${isDone ? '' : '  has been changed in the meantime'}`);
    bars.at('deposits deleted', expired);
  }
  bars.end();
  await untilInEffect(config, log, administration);
  const done = isDryRun ? 'would be' : expired === 1 ? 'was' : 'were';
  if (!values.json) say(`${pluralize(expired, 'deposit')} ${done} deleted.`);
});

/** Returns the deposits according to the current views; the append detects later changes. */
function abandoned(config: Config, changedBefore: string): AbandonedDeposit[] {
  using view = openView(config, depositStatus);
  return abandonedDeposits(view, changedBefore);
}

function unlessChanged(error: unknown): false {
  const { code } = error as { code?: string };
  if (code === 'REVISION_NOT_MATCHED' || code === 'DEPOSIT_NOT_PARTIAL') return false;
  throw error;
}
