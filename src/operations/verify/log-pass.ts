import { pluralize } from '../../domain/description.ts';
import { EventLogUnavailable, type RecordedEvent } from '../../event-log/event-log.ts';
import type { AuditedRecord, UnreadableRecord } from '../../event-log/integrity/log-audit.ts';
import type { Report } from './report.ts';

/** A check that sees every event once, in the order of the log. */
export type LogCheck = {
  /** `number` counts the readable events of the log from 1. The pass waits for a returned promise. */
  see?(event: RecordedEvent, number: number): void | Promise<void>;
  miss?(record: UnreadableRecord): void;
  /** Called after the last event; `whole` is false if the log could not be read to its end. */
  end?(whole: boolean): void | Promise<void>;
  /** Called after an error: resolves once all work of the check has settled. */
  settled?(): Promise<void>;
};

type LogPassOptions = {
  readonly progress?: (events: number) => void;
  readonly signal?: AbortSignal | undefined;
};

/** Reads the log, or some streams of it, once for several checks. */
export async function logPass(
  report: Report,
  records: AsyncIterable<AuditedRecord>,
  checks: readonly LogCheck[],
  options: LogPassOptions = {},
): Promise<void> {
  try {
    const whole = await readAll(report, records, checks, options);
    for (const check of checks) await check.end?.(whole);
  } finally {
    for (const check of checks) await check.settled?.();
  }
}

async function readAll(
  report: Report,
  records: AsyncIterable<AuditedRecord>,
  checks: readonly LogCheck[],
  { progress, signal }: LogPassOptions,
): Promise<boolean> {
  let number = 0;
  try {
    for await (const record of records) {
      signal?.throwIfAborted();
      if (record.kind === 'event') {
        number += 1;
        report.counts.events += 1;
        for (const check of checks) await check.see?.(record.event, number);
        progress?.(number);
      } else {
        report.find(unreadable(record));
        for (const check of checks) check.miss?.(record);
      }
    }
    return true;
  } catch (error) {
    if (!(error instanceof EventLogUnavailable)) throw error;
    report.find({
      check: 'log',
      code: 'LOG_UNREADABLE',
      text: `After ${pluralize(number, 'event')} the log cannot be read any further: ${error.message}`,
    });
    return false;
  }
}

function unreadable({ reason, ...place }: UnreadableRecord) {
  const { position, stream, revision } = place;
  const where = stream === undefined ? '' : ` (revision ${revision ?? '?'} of ${stream})`;
  return {
    check: 'log' as const,
    code: 'EVENT_UNREADABLE',
    text: `The event at position ${position}${where} ${reason.replace(/\.$/, '')}.`,
    position,
    ...(stream !== undefined && { stream }),
    ...(revision !== undefined && { revision }),
  };
}
