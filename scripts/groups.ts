import { readConfig } from '../src/config/read-config.ts';
import {
  type Actions,
  assertAction,
  assertNoPositionals,
  duration,
  readArguments,
} from '../src/operations/command/arguments.ts';
import { refused, runCommand, stopSignal, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say, warn } from '../src/operations/command/output.ts';
import { openGroups } from '../src/service/backends/open-log.ts';

const HELP = `Creates or deletes the groups of the reactors (persistent subscriptions) on EventStoreDB or KurrentDB. Nodes do this by
themselves if their user is in $ops or $admins. Otherwise run it with such a user in DEPOSIT_EVENT_LOG.

Usage: deposit-service groups create [--json]
       deposit-service groups delete-retired [--unused-for 10m] [--json]

create          creates the group of this release, before its nodes start. It begins at the position of the groups of an
                older release, or at the beginning of the log. An existing group stays unchanged
delete-retired  deletes the groups of older releases after no node was connected to them for this time, 10m by default.
                A node of an older release that starts later creates its groups again from the beginning of the log, and
                sends all notifications again

Exit codes: 0 done, 1 failed, not permitted, or a group is in use, 2 wrong usage.
`;

const ACTIONS: Actions = { create: ['json'], 'delete-retired': ['unused-for', 'json'] };

await runCommand(HELP, async ([action = '', ...rest]) => {
  const { values, positionals } = readArguments(rest, {
    'unused-for': { type: 'string' },
    json: { type: 'boolean' },
  });
  assertAction(ACTIONS, action, values);
  assertNoPositionals(positionals);
  const unusedFor = unusedTime(values['unused-for'] ?? '10m');
  await using groups = await openedGroups();
  if (action === 'create') {
    const outcome = await groups.create();
    if (values.json) say(jsonLine({ created: outcome === 'created' }));
    else
      say(
        outcome === 'created' ? 'The group was created.' : 'The group already exists: nothing was changed.',
      );
    return 0;
  }
  const stop = stopSignal('Stopped: the groups that were not deleted are left.');
  const outcome = await groups.deleteRetired(unusedFor, stop);
  report(outcome, values.json);
  if (stop.aborted) throw stop.reason;
  return outcome.inUse.length > 0 ? 1 : 0;
});

/** @throws {UsageError} */
function unusedTime(text: string): number {
  try {
    return duration(text);
  } catch (error) {
    throw new UsageError(`--unused-for: ${(error as Error).message}`, { cause: error });
  }
}

async function openedGroups() {
  const groups = await openGroups(readConfig().eventLog);
  if (groups) return groups;
  throw refused(
    'NO_SERVER',
    'The event log is embedded, which has no groups: set DEPOSIT_EVENT_LOG to esdb://….',
  );
}

type Outcome = { readonly deleted: readonly string[]; readonly inUse: readonly string[] };

function report({ deleted, inUse }: Outcome, json = false): void {
  if (json) return say(jsonLine({ deleted, inUse }));
  for (const group of deleted) say(`The group ${group} was deleted.`);
  for (const group of inUse) warn(`The group ${group} is in use: stop the nodes of the older release first.`);
  if (deleted.length + inUse.length === 0) say('No consumer groups of an older release found.');
}
