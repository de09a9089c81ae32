import { createReadStream, existsSync } from 'node:fs';
import { readConfig } from '../src/config.ts';
import { lockDataFolder } from '../src/data-folder-lock.ts';
import { openLog } from '../src/engines.ts';
import { copyEvents } from '../src/event-log/log-copy.ts';
import { exportedEvents } from '../src/verification/exported-event.ts';
import { only, readArguments, runCommand, UsageError } from './command.ts';
import { ProgressBars } from './progress-bar.ts';
import { stopSignal } from './stop-signal.ts';

const HELP = `Brings a whole export into an empty event log: the same events with their ids and hashes, in the same order.

  npm run import -- FILE
  npm run -s export | … npm run import -- -          from standard input

The log (DEPOSIT_EVENT_LOG) must be empty or hold what an earlier run of the same import brought: a run that was
broken off goes on after it. An embedded log must not be in use by a service.
A line that was cut or changed is refused with its number. Of a file every line is looked at before any is taken;
from standard input the lines before it are in the log by then.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
`;

await runCommand(HELP, async (args) => {
  const { positionals } = readArguments(args, {});
  const file = only(positionals, 'FILE');
  if (file !== '-' && !existsSync(file)) throw new UsageError(`There is no ${file}.`);
  const config = readConfig();
  const { eventLog } = config;
  using _only = eventLog.kind === 'sqlite' ? lockDataFolder(config.dataDir) : undefined;
  const signal = stopSignal('Stopped. What the log holds is whole; the same command goes on from there.');
  using bars = new ProgressBars();
  const total = file === '-' ? undefined : await checked(file, signal, bars);
  await using log = await openLog(config);
  const { found, copied } = await copyEvents(
    exportedEvents(file === '-' ? process.stdin : createReadStream(file)),
    log,
    {
      engine: eventLog.kind,
      signal,
      progress: (step, events) => bars.at(`events ${step}`, events, total),
    },
  );
  process.stdout.write(`Imported ${copied} events; the log holds ${found + copied}.\n`);
});

/** How many events the file holds, all of them good. */
async function checked(file: string, signal: AbortSignal, bars: ProgressBars): Promise<number> {
  let events = 0;
  for await (const _event of exportedEvents(createReadStream(file))) {
    signal.throwIfAborted();
    events += 1;
    bars.at('lines checked', events);
  }
  return events;
}
