import type { RecordedEvent } from '../event-log/event-log.ts';
import type { StreamHeads } from '../event-log/stream-heads.ts';
import type { Watcher } from './history.ts';
import type { Report } from './report.ts';

/** Milliseconds that the clocks of two nodes may be apart. */
const APART_IN_STREAM = 1000;
/** Along the log an event also comes later than its time says when its append was tried for a while. */
const APART_IN_LOG = 60_000;

/**
 * Notes where the times of events run backwards, within a stream or, when all are read in the order of the log, along
 * it. That proves nothing: clocks are set back. But what was put in or moved later often shows so.
 * @param heads of the same reading; the watcher that sets them comes before this one.
 */
export function clockWatcher(
  report: Report,
  heads: StreamHeads,
  { alongLog }: { readonly alongLog: boolean },
): Watcher {
  const [inStream, inLog] = [new Backwards(APART_IN_STREAM), new Backwards(APART_IN_LOG)];
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
      if (firstTimeless) report.notes.push(withoutTime(firstTimeless, timeless));
    },
  };
}

class Backwards {
  readonly #apart: number;
  #times = 0;
  #first: { readonly event: RecordedEvent; readonly ms: number } | undefined;

  constructor(apart: number) {
    this.#apart = apart;
  }

  compare(before: number, time: number, event: RecordedEvent): void {
    const ms = before - time;
    if (!(ms > this.#apart)) return; // one of them may have no time
    this.#times += 1;
    this.#first ??= { event, ms };
  }

  /** `where`: behind "the event before it". */
  notes(where: string): string[] {
    if (!this.#first) return [];
    const { event, ms } = this.#first;
    const { type, revision, stream } = event;
    const others = this.#times === 1 ? '' : `, the first of ${this.#times} such places`;
    return [
      `The ${type} at revision ${revision} of ${stream} says that it came ${(ms / 1000).toFixed(1)} s before the event before it ${where}${others}. A clock was set back or those of nodes differ, unless something was put in or moved.`,
    ];
  }
}

function withoutTime({ type, revision, stream }: RecordedEvent, times: number): string {
  const others = times === 1 ? '' : `, as the first of ${times}`;
  return `The ${type} at revision ${revision} of ${stream} does not say when it came${others}: the service writes no such event.`;
}

function timeOf({ metadata: { occurredAt } }: RecordedEvent): number {
  return typeof occurredAt === 'string' ? Date.parse(occurredAt) : Number.NaN;
}
