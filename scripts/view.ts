import { everyView } from '../projections/every-view.ts';
import { readConfig } from '../src/config/read-config.ts';
import { onlyPositional, readArguments } from '../src/operations/command/arguments.ts';
import { refused, runCommand, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, sayInTurn, warn } from '../src/operations/command/output.ts';
import { openView } from '../src/service/backends/open-view.ts';

const names = everyView.map(({ name }) => name);
const HELP = `Prints a view of this node: a line of JSON for each entry. Credentials and secrets are not shown.

Usage: deposit-service view NAME [--key KEY]

Views: ${names.join(', ')}
--key  only the entry with this key, such as the id of a deposit or the name of a client

A running service writes its views a few milliseconds after the event. The position up to which they are written goes to
standard error.

Examples: deposit-service view deposit-status --key 7
          deposit-service view client-logins

Exit codes: 0 done, 1 no such entry, or failed, 2 wrong usage.
`;

await runCommand(
  HELP,
  async (args) => {
    const { values, positionals } = readArguments(args, { key: { type: 'string' } });
    const name = onlyPositional(positionals, 'NAME');
    if (!names.includes(name)) throw new UsageError(`Unknown view ${name}. Views: ${names.join(', ')}.`);
    using view = openView(readConfig(), { name });
    using _moment = view.snapshot();
    const { key } = values;
    const entries = key === undefined ? view.entries() : view.entryOf(key);
    let count = 0;
    for (const [each, value] of entries) {
      await sayInTurn(jsonLine({ key: each, value }), { waits: false }); // in a transaction
      count += 1;
    }
    if (key !== undefined && count === 0) throw refused('NO_ENTRY', `The view ${name} has no entry ${key}.`);
    warn(`The view is at position ${view.position ?? 'none'} of the log.`);
  },
  { onlyPrints: true },
);
