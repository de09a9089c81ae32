import { createReadStream, statSync } from 'node:fs';
import { readConfig } from '../src/config/read-config.ts';
import { pluralize } from '../src/domain/description.ts';
import { onlyPositional, readArguments } from '../src/operations/command/arguments.ts';
import { refused, runCommand, stopSignal, UsageError } from '../src/operations/command/command.ts';
import { say } from '../src/operations/command/output.ts';
import { copyEvents } from '../src/operations/copy/log-copy.ts';
import { exportedEvents } from '../src/operations/verify/exported-event.ts';
import { openLog } from '../src/service/backends/open-log.ts';
import { assertNoOtherCopy, beginCopy, endCopy } from '../src/service/backends/unfinished-copy.ts';
import { lockDataFolder } from '../src/service/operator-port/data-directory-lock.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';

const HELP = `Imports a whole export into an empty event log: the same events with their ids and hashes, in the same order.

Usage: deposit-service import FILE [--partial]
       deposit-service export | … deposit-service import -          from standard input

--partial  accept an export without its last line, as of older releases, or of a part of a log. Only anchors stored
           elsewhere then show whether it is whole: "deposit-service verify --anchors FILE"

The log (DEPOSIT_EVENT_LOG) must be empty, or contain what an earlier run of the same import wrote. To resume an
interrupted run, repeat the same command: no service starts on the log before it has finished. No service may use an
embedded log. A changed line is refused with its number, and an incomplete export with what is missing. A file is read to
its end before anything is written. From standard input events are written at once.
`;

await runCommand(HELP, async (args) => {
  const { values, positionals } = readArguments(args, { partial: { type: 'boolean', default: false } });
  const { partial } = values;
  const file = onlyPositional(positionals, 'FILE');
  if (file !== '-') assertReadableTwice(file);
  const config = readConfig();
  const { eventLog } = config;
  using _only = eventLog.kind === 'sqlite' ? lockDataFolder(config) : undefined;
  await assertNoOtherCopy(eventLog, 'import');
  const signal = stopSignal('Stopped. The log is consistent; run the same command again to resume.');
  using bars = new ProgressBars();
  const total = file === '-' ? undefined : await countEvents(file, partial, signal, bars);
  await using log = await openLog(config);
  const { found, copied } = await copyEvents(
    withOutcome(
      'Nothing from this line on was imported.',
      file === '-' ? process.stdin : createReadStream(file),
      partial,
    ),
    log,
    {
      engine: eventLog.kind,
      onBeforeAppend: () => beginCopy(eventLog, 'import'),
      signal,
      progress: (step, events) => bars.at(`events ${step}`, events, total),
    },
  );
  await endCopy(eventLog);
  bars.end();
  say(`Imported ${pluralize(copied, 'event')}; the log holds ${found + copied}.`);
});

/** @throws {UsageError} the file is missing, or a pipe, which is empty when it is read again. */
function assertReadableTwice(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw new UsageError(`${file} not found.`);
  if (!found.isFile())
    throw new UsageError(
      `${file} is not a regular file, and FILE is read twice: give - to read from standard input.`,
    );
}

/** Yields the events of an export. The error of a line that is refused also says what was imported. */
async function* withOutcome(outcome: string, source: AsyncIterable<Uint8Array>, partial: boolean) {
  try {
    yield* exportedEvents(source, { partial });
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw code === 'BAD_LINE' ? refused(code, `${message} ${outcome}`) : error;
  }
}

/** Counts the events of the file, and checks all of them. */
async function countEvents(
  file: string,
  partial: boolean,
  signal: AbortSignal,
  bars: ProgressBars,
): Promise<number> {
  let events = 0;
  for await (const _event of withOutcome('Nothing was imported.', createReadStream(file), partial)) {
    signal.throwIfAborted();
    events += 1;
    bars.at('lines checked', events);
  }
  return events;
}
