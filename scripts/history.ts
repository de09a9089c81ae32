import { readConfig } from '../src/config/config.ts';
import { runCommand, say, warn } from '../src/operations/command/command.ts';
import { printHistory } from '../src/operations/history/print-history.ts';

const HELP = `Shows everything that happened to a deposit, a client or a collection, and recomputes every hash.

Usage: deposit-service history ID [--at TIME|REVISION] [--json]
       deposit-service history client:NAME [--at TIME|REVISION] [--json]
       deposit-service history collection:NAME [--at TIME|REVISION] [--json]

ID      number of a deposit, also of a deleted one; "deposit-service search" finds it by SWHID, digest or origin
--at    the state after the event of this revision (the number after #), or at this time, as in 2026-03-01T10:00:00Z
--json  one JSON object per event, with whole digests; with --at one object, the state

Credentials are never shown.

Exit codes: 0 done, 1 there is no such history, or it is broken, 2 wrong usage.
`;

await runCommand(HELP, (args) => printHistory(args, readConfig(), { say, warn }), { onlyPrints: true });
