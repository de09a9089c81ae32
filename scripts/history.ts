import { readConfig } from '../src/config/config.ts';
import { runCommand, say, warn } from '../src/operations/command/command.ts';
import { printHistory } from '../src/operations/history/print-history.ts';

const HELP = `Tells everything that happened to a deposit, a client or a collection, and recomputes every hash.

  npm run history -- ID [--at TIME|REVISION] [--json]
  npm run history -- client:NAME [--at TIME|REVISION] [--json]
  npm run history -- collection:NAME [--at TIME|REVISION] [--json]

ID: number of a deposit; one that was deleted keeps its history.
--at: how things stood after the event of this revision (the number after #), or at this moment, such as
      2026-03-01T10:00:00Z: up to the first event that says it came later.
--json: one object a line for each event, with whole digests; with --at one object, the state.
Credentials are never shown.
Exit codes: 0 done, 1 there is no such history, or it is broken, 2 wrong usage.
`;

await runCommand(HELP, (args) => printHistory(args, readConfig(), { say, warn }), { onlyPrints: true });
