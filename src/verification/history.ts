import { counted } from '../domain/description.ts';
import { EventLogUnavailable, type RecordedEvent } from '../event-log/event-log.ts';
import type { AuditedRecord, UnreadableRecord } from '../event-log/log-audit.ts';
import type { Check, Report } from './report.ts';

/** Looks at every event once, in the order of the log. */
export type Watcher = {
  /** `number`: which of the readable events of the log it is, from 1. A promise holds the reading back. */
  readonly see?: (event: RecordedEvent, number: number) => void | Promise<void>;
  readonly miss?: (record: UnreadableRecord) => void;
  /** When all was read; `whole` unless the reading broke off. */
  readonly end?: (whole: boolean) => void | Promise<void>;
  /** When nothing more will come because something threw: resolves when nothing is under way any more. */
  readonly settled?: () => Promise<void>;
};

export type HistoryOptions = {
  readonly progress?: (events: number) => void;
  readonly signal?: AbortSignal;
};

/** One reading of the log, or of some streams of it, for all who have to look at it. */
export function history(
  records: () => AsyncIterable<AuditedRecord>,
  watchers: readonly Watcher[],
  options: HistoryOptions = {},
): Check {
  return async (report) => {
    try {
      const whole = await readAll(records(), watchers, report, options);
      for (const { end } of watchers) await end?.(whole);
    } finally {
      for (const { settled } of watchers) await settled?.();
    }
  };
}

async function readAll(
  records: AsyncIterable<AuditedRecord>,
  watchers: readonly Watcher[],
  report: Report,
  { progress, signal }: HistoryOptions,
): Promise<boolean> {
  let number = 0;
  try {
    for await (const record of records) {
      signal?.throwIfAborted();
      if (record.kind === 'event') {
        number += 1;
        report.counts.events += 1;
        for (const { see } of watchers) await see?.(record.event, number);
        progress?.(number);
      } else {
        report.find(unreadable(record));
        for (const { miss } of watchers) miss?.(record);
      }
    }
    return true;
  } catch (error) {
    if (!(error instanceof EventLogUnavailable)) throw error;
    report.find({
      check: 'log',
      code: 'LOG_UNREADABLE',
      text: `After ${counted(number, 'event')} the log cannot be read any further: ${error.message}`,
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
