import { readConfig } from '../src/config/read-config.ts';
import { runCommand } from '../src/operations/command/command.ts';
import { say, warn } from '../src/operations/command/output.ts';
import { printHistory } from '../src/operations/history/print-history.ts';

const HELP = `Shows everything that happened to a deposit, a client, a collection or a person, and computes every hash again.

Usage: deposit-service history ID [--at TIME|REVISION] [--json]
       deposit-service history SWHID [--at TIME|REVISION] [--json]
       deposit-service history client:NAME [--at TIME|REVISION] [--json]
       deposit-service history collection:NAME [--at TIME|REVISION] [--json]
       deposit-service history person:NAME [--at TIME|REVISION] [--json]

ID      number of a deposit, also of a deleted one
SWHID   the histories of all deposits with it: of any kind, also of a file or folder inside, with or without qualifiers.
        A digest in hex, the id of an event and the URL of an origin work as well. The log is read once
--at    the state after the event of this revision (the number after #), or at this time, as in 2026-03-01T10:00:00Z
--json  one JSON object per event; with --at one object per history, the state

Credentials are never shown.

Exit codes: 0 done, 1 there is no such history, it is broken, this release does not know all events, or a manifest
could not be searched, 2 wrong usage.
`;

await runCommand(HELP, (args) => printHistory(args, readConfig(), { say, warn }));
