import {
  type Appended,
  type CallTimes,
  type EventLog,
  EventLogUnavailable,
  type ExpectedRevision,
  type NewEvent,
  WrongExpectedRevision,
} from '../../event-log/event-log.ts';
import { ForwardingEventLog } from '../../event-log/forwarding-event-log.ts';
import { clock } from '../../tools/clock.ts';
import { type Instruments, secondsSince } from './instruments.ts';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 20];

/** Counts and times the appends of this node. */
export class MeasuredEventLog extends ForwardingEventLog {
  readonly #onAppended: (events: readonly NewEvent[]) => void;
  readonly #appends;
  readonly #durations;
  readonly #inFlight;
  readonly #events;

  /** @param onAppended called with the appended events. */
  constructor(log: EventLog, make: Instruments, onAppended: (events: readonly NewEvent[]) => void) {
    super(log);
    this.#onAppended = onAppended;
    this.#appends = make.counter('event_log_appends_total', 'Appends of this node, by what became of them', [
      'outcome',
    ]);
    this.#durations = make.histogram(
      'event_log_append_duration_seconds',
      'From an append until it is durable, refused or given up',
      SECONDS,
    );
    this.#inFlight = make.gauge(
      'event_log_appends_in_flight',
      'Appends that wait to be durable: the queue of the writer',
    );
    this.#events = make.counter('event_log_events_appended_total', 'Events that this node appended', [
      'type',
    ]);
    for (const outcome of ['appended', 'conflict', 'unavailable', 'failed'] as const)
      this.#appends.inc({ outcome }, 0);
  }

  override async append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    options?: CallTimes,
  ): Promise<Appended> {
    const started = clock.monotonic();
    this.#inFlight.inc();
    let outcome: AppendOutcome = 'appended';
    try {
      return await super.append(stream, expected, events, options);
    } catch (error) {
      outcome = outcomeOf(error);
      throw error;
    } finally {
      this.#inFlight.dec();
      this.#durations.observe(secondsSince(started));
      this.#appends.inc({ outcome });
      if (outcome === 'appended') this.#count(events);
    }
  }

  #count(events: readonly NewEvent[]): void {
    for (const { type } of events) this.#events.inc({ type });
    this.#onAppended(events);
  }
}

type AppendOutcome = 'appended' | 'conflict' | 'unavailable' | 'failed';

function outcomeOf(error: unknown): AppendOutcome {
  if (error instanceof WrongExpectedRevision) return 'conflict';
  return error instanceof EventLogUnavailable ? 'unavailable' : 'failed';
}
