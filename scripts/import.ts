import { createReadStream, existsSync } from 'node:fs';
import { readConfig } from '../src/config/config.ts';
import { pluralize } from '../src/domain/description.ts';
import {
  onlyPositional,
  readArguments,
  runCommand,
  say,
  stopSignal,
  UsageError,
} from '../src/operations/command/command.ts';
import { copyEvents } from '../src/operations/copy/log-copy.ts';
import { exportedEvents } from '../src/operations/verify/exported-event.ts';
import { openLog } from '../src/service/backends/open-backends.ts';
import { lockDataFolder } from '../src/service/operator-port/data-directory-lock.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';

const HELP = `Brings a whole export into an empty event log: the same events with their ids and hashes, in the same order.

  npm run import -- FILE [--partial]
  npm run -s export | … npm run import -- -          from standard input

The log (DEPOSIT_EVENT_LOG) must be empty or hold what an earlier run of the same import brought: a run that was
broken off goes on after it. An embedded log must not be in use by a service.
A line that was cut or changed is refused with its number, and an export that lacks lines with what is missing: its
last line must be there and fit the others. A file is looked at to its end before anything is taken; what came from
standard input is in the log by then, which must not be used before a whole export has gone on from there.
--partial: takes an export that lacks its last line, as those of older releases do, or that is of a part of a log.
Nothing tells then whether it is whole; anchors kept elsewhere do afterwards, with "npm run verify -- --anchors FILE".
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
`;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, { partial: { type: 'boolean', default: false } });
  const { partial } = values;
  const file = onlyPositional(positionals, 'FILE');
  if (file !== '-' && !existsSync(file)) throw new UsageError(`There is no ${file}.`);
  const config = readConfig();
  const { eventLog } = config;
  using _only = eventLog.kind === 'sqlite' ? lockDataFolder(config.dataDir) : undefined;
  const signal = stopSignal('Stopped. What the log holds is whole; the same command goes on from there.');
  using bars = new ProgressBars();
  const total = file === '-' ? undefined : await countEvents(file, partial, signal, bars);
  await using log = await openLog(config);
  const { found, copied } = await copyEvents(
    exportedEvents(file === '-' ? process.stdin : createReadStream(file), { partial }),
    log,
    {
      engine: eventLog.kind,
      signal,
      progress: (step, events) => bars.at(`events ${step}`, events, total),
    },
  );
  say(`Imported ${pluralize(copied, 'event')}; the log holds ${found + copied}.`);
});

/** Counts the events of the file, and checks all of them. */
async function countEvents(
  file: string,
  partial: boolean,
  signal: AbortSignal,
  bars: ProgressBars,
): Promise<number> {
  let events = 0;
  for await (const _event of exportedEvents(createReadStream(file), { partial })) {
    signal.throwIfAborted();
    events += 1;
    bars.at('lines checked', events);
  }
  return events;
}
