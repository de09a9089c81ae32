import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readConfig } from '../src/config/read-config.ts';
import { pluralize } from '../src/domain/description.ts';
import type { AuditedRecord } from '../src/event-log/integrity/log-audit.ts';
import { readOptions } from '../src/operations/command/arguments.ts';
import { refused, runCommand, stopSignal, UsageError } from '../src/operations/command/command.ts';
import { say, warn } from '../src/operations/command/output.ts';
import { assertEnginesOfService } from '../src/operations/command/service-engines.ts';
import { writeWholeFile } from '../src/operations/command/whole-file.ts';
import { type ExportedPart, ExportTally } from '../src/operations/verify/export-trailer.ts';
import { exportedEvent } from '../src/operations/verify/exported-event.ts';
import { redactedEvent } from '../src/operations/verify/redacted-event.ts';
import { assertExists } from '../src/service/backends/backend-not-found.ts';
import { openLogAudit } from '../src/service/backends/open-audits.ts';
import { ProgressBars } from '../src/tools/terminal/progress-bar.ts';

const HELP = `Writes the event log as NDJSON: one self-contained event per line, in the order of the log.

Usage: deposit-service export [--from POSITION] [--stream STREAM] [--audit] [--output FILE]

--from    begin with the event at this position
--stream  only the events of one stream
--output  write a file, readable only for you, that appears when it is complete; by default standard output
--audit   for auditors: digests of passwords and secrets of webhooks are null. These lines keep their hash, but it cannot
          be recomputed from them

The last line has the number of events and the Merkle root over them, as in an anchor, so an incomplete export is noticed.
Without --audit, protect the export like the data folder. "deposit-service import" reads a whole export without --audit
into an empty log. The service may run.

Example: deposit-service export --output log.ndjson
`;

/** Form of the positions of each backend; those of one mean nothing to the other. Event numbers are safe integers. */
const POSITIONS = { sqlite: /^00[01][0-9a-f]{13}$/, eventstoredb: /^[0-9a-f]{16}-[0-9a-f]{16}$/ } as const;
/** Number of characters per write. */
const CHUNK = 64 * 1024;

await runCommand(
  HELP,
  async (args) => {
    const { from, stream, output, audit } = readOptions(args, {
      from: { type: 'string' },
      stream: { type: 'string' },
      output: { type: 'string' },
      audit: { type: 'boolean' },
    });
    const config = readConfig();
    if (from !== undefined && !POSITIONS[config.eventLog.kind].test(from)) {
      throw new UsageError(
        `--from ${from} is not a position of this event log: positions are in the lines of its exports.`,
      );
    }
    const note = await assertEnginesOfService(config, 'eventLog');
    if (note !== undefined) warn(note);
    const { eventLog } = config;
    if (eventLog.kind === 'sqlite') assertExists('event log', eventLog.file);
    await using log = await openLogAudit(eventLog);
    const records = stream === undefined ? log.events(from) : fromPosition(log.stream(stream), from);
    const total = stream === undefined && from === undefined ? await log.count() : undefined;
    const part = { ...(stream !== undefined && { stream }), ...(from !== undefined && { from }) };
    if (output === undefined) return await toStandardOutput(chunks(records, { part, audit }));
    let exported = 0;
    using bars = new ProgressBars();
    const progress = (events: number): void => bars.at('events exported', (exported = events), total);
    const signal = stopSignal('Stopped; nothing was exported.');
    await writeWholeFile(output, chunks(records, { part, audit, progress }), signal);
    bars.end();
    say(`Exported ${pluralize(exported, 'event')} into ${output}.`);
  },
  { mayBeBare: true },
);

type ExportOptions = {
  readonly part: ExportedPart;
  readonly audit?: boolean | undefined;
  readonly progress?: (events: number) => void;
};

async function* chunks(
  records: AsyncIterable<AuditedRecord>,
  { part, audit = false, progress }: ExportOptions,
): AsyncGenerator<string> {
  const tally = new ExportTally();
  let redacted = 0;
  let text = '';
  for await (const record of records) {
    if (record.kind === 'unreadable') {
      const message = `The event at position ${record.position} ${record.reason}. Run "deposit-service verify".`;
      throw refused('EVENT_UNREADABLE', message);
    }
    const shown = audit ? redactedEvent(record.event) : record.event;
    if (shown !== record.event) redacted += 1;
    text += `${exportedEvent(shown)}\n`;
    tally.add(record.event);
    progress?.(tally.events);
    if (text.length < CHUNK) continue;
    yield text;
    text = '';
  }
  const { stream, from } = part;
  if (stream !== undefined && from === undefined && tally.events === 0)
    throw refused('NO_STREAM', `Stream ${stream} not found in the event log.`);
  yield `${text}${tally.lastLine({ ...part, ...(audit && { redacted }) })}\n`;
}

async function* fromPosition(
  records: AsyncIterable<AuditedRecord>,
  from = '',
): AsyncGenerator<AuditedRecord> {
  for await (const record of records) {
    const position = record.kind === 'event' ? record.event.position : record.position;
    if (position >= from) yield record;
  }
}

/** Writes to standard output until its reader closes it. Any other write that fails is reported where commands run. */
async function toStandardOutput(text: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(text), process.stdout);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== 'write') throw error;
  }
}
