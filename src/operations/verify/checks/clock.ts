import type { RecordedEvent } from '../../../event-log/event-log.ts';
import type { StreamHeads } from '../../../event-log/integrity/stream-heads.ts';
import { spanText } from '../../../tools/terminal/span-text.ts';
import type { LogCheck } from '../log-pass.ts';
import type { Report } from '../report.ts';

/** Maximum clock difference of two nodes, in milliseconds. */
const MAX_SKEW_IN_STREAM_MS = 1000;
/** Maximum difference between events of different streams; retries of an append delay an event further. */
const MAX_SKEW_IN_LOG_MS = 60_000;

/**
 * Notes where the times of events decrease: within a stream and, for a pass in the order of the log, along the log.
 * That proves nothing, since clocks are set back. But it often shows events that were inserted or moved.
 * @param heads of the same pass; the check that sets them must run before this one.
 */
export function clockCheck(
  report: Report,
  heads: StreamHeads,
  { alongLog }: { readonly alongLog: boolean },
): LogCheck {
  const [inStream, inLog] = [new BackwardTimes(MAX_SKEW_IN_STREAM_MS), new BackwardTimes(MAX_SKEW_IN_LOG_MS)];
  let last = Number.NaN;
  let timeless = 0;
  let firstTimeless: RecordedEvent | undefined;
  return {
    see(event) {
      const time = timeOf(event);
      if (Number.isNaN(time)) {
        timeless += 1;
        firstTimeless ??= event;
      }
      inStream.compare(heads.timeOf(event.stream), time, event);
      if (alongLog) inLog.compare(last, time, event);
      heads.setTime(event.stream, time);
      last = time;
    },
    end() {
      report.notes.push(...inStream.notes('of its stream'), ...inLog.notes('in the log'));
      if (firstTimeless) report.notes.push(missingTimeNote(firstTimeless, timeless));
    },
  };
}

class BackwardTimes {
  readonly #maxSkewMs: number;
  #times = 0;
  #first: { readonly event: RecordedEvent; readonly ms: number } | undefined;

  constructor(apart: number) {
    this.#maxSkewMs = apart;
  }

  compare(before: number, time: number, event: RecordedEvent): void {
    const ms = before - time;
    if (!(ms > this.#maxSkewMs)) return; // also if one of them has no time
    this.#times += 1;
    this.#first ??= { event, ms };
  }

  /** Returns the notes. `where` completes "the event before it". */
  notes(where: string): string[] {
    if (!this.#first) return [];
    const { event, ms } = this.#first;
    const { type, revision, stream } = event;
    const others = this.#times === 1 ? '' : `, the first of ${this.#times.toLocaleString('en')} such places`;
    return [
      `The ${type} at revision ${revision} of ${stream} has a time ${spanText(Math.round(ms / 100) / 10)} before that of the previous event ${where}${others}. A clock was set back, clocks of nodes differ, or an event was inserted or moved.`,
    ];
  }
}

function missingTimeNote({ type, revision, stream }: RecordedEvent, times: number): string {
  const others = times === 1 ? '' : `, as the first of ${times.toLocaleString('en')}`;
  return `The ${type} at revision ${revision} of ${stream} has no time${others}: the service writes no such event.`;
}

function timeOf({ metadata: { occurredAt } }: RecordedEvent): number {
  return typeof occurredAt === 'string' ? Date.parse(occurredAt) : Number.NaN;
}
