import type { EventLogConfig } from '../src/config/config.ts';
import { readConfig } from '../src/config/read-config.ts';
import type { StoreAudit } from '../src/object-store/object-store.ts';
import { readOptions } from '../src/operations/command/arguments.ts';
import { runCommand } from '../src/operations/command/command.ts';
import { jsonLine, say } from '../src/operations/command/output.ts';
import { assertEnginesOfService } from '../src/operations/command/service-engines.ts';
import { statusFacts } from '../src/operations/status/status-facts.ts';
import { withRates } from '../src/operations/status/status-rates.ts';
import { statusScreen } from '../src/operations/status/status-screen.ts';
import { assertExists } from '../src/service/backends/backend-not-found.ts';
import { openStoreToRead } from '../src/service/backends/open-audits.ts';
import { askLogServer, openLog } from '../src/service/backends/open-log.ts';
import { clock } from '../src/tools/clock.ts';
import { printable } from '../src/tools/terminal/printable.ts';

const HELP = `Shows the state of the service on this data folder on one screen. Works with and without a running service.

Usage: deposit-service status [--watch] [--json]

--watch  again every two seconds until Ctrl-C
--json   one JSON object

Shown are the failed readiness checks of the service, each view and reactor with its position in the log, its lag (in
events, up to 1,000, and the age of the oldest; "unknown" if the log was not counted in a fifth of a second, or ends
before that position) and its rate, the last error of each reactor, deposits by state with the oldest of each,
notifications, parked events, what is stored, the ages of the last backup and verification, and corrupt view files.
While the log or the store cannot be reached, the reason is shown, with all that is known without it.

Exit codes: 0 shown, 1 failed, 2 wrong usage.
`;

/** Milliseconds between two updates. */
const [WATCH, FIRST_RATE] = [2000, 500];
/** Milliseconds for one attempt to reach the server of the log, and for all. */
const LOG_TIMES = { callTimeout: 2000, retryTimeout: 2000 };

await runCommand(
  HELP,
  async (args) => {
    const values = readOptions(args, { watch: { type: 'boolean' }, json: { type: 'boolean' } });
    const config = readConfig();
    await assertEnginesOfService(config, 'eventLog', 'archiveStore'); // a service that does not answer is shown as such
    const eventLog = withShortTimes(config.eventLog);
    await using log = await openLog({ eventLog }, { readOnly: true, mustExist: true });
    assertExists('data folder', config.dataDir);
    await using opened = new AsyncDisposableStack();
    let store: StoreAudit | undefined;
    const storeOnce = async () => {
      store ??= opened.use(await openStoreToRead(config));
      if (config.archiveStore.kind === 'file') await store.ready(); // its list reports corrupt rows only after all files
      return store;
    };
    let server: Awaited<ReturnType<typeof askLogServer>>;
    const serverOnce = async () => (server ??= await askLogServer(eventLog));
    const look = () => statusFacts({ ...config, eventLog }, log, storeOnce, serverOnce);
    let before = await look();
    let facts = before;
    if (before.service && before.log.note === null) {
      await clock.sleep(FIRST_RATE);
      facts = await look();
    }
    for (;;) {
      const status = withRates(facts, before);
      if (values.json) say(jsonLine(status));
      else {
        if (values.watch && process.stdout.isTTY) process.stdout.write('\x1b[2J\x1b[H');
        process.stdout.write(printable(statusScreen(status)));
      }
      if (!values.watch) return;
      await clock.sleep(WATCH);
      [before, facts] = [facts, await look()];
    }
  },
  { mayBeBare: true, onlyPrints: true },
);

/** Returns the configuration of a log that is tried for a short time, since a person waits. Other commands try for longer. */
function withShortTimes(eventLog: EventLogConfig): EventLogConfig {
  return eventLog.kind === 'sqlite' ? eventLog : { ...eventLog, ...LOG_TIMES };
}
