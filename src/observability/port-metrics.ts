import type { Attributes, Span } from '@opentelemetry/api';
import type { DepositEvent, Reason } from '../domain/deposit/events.ts';
import type { EventLog, NewEvent } from '../event-log/event-log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { clock } from '../tools/clock.ts';
import { codeOf } from '../tools/coded-error.ts';
import type { Observer } from '../tools/observed.ts';
import { inSpan } from '../tools/span.ts';
import { type Metrics, secondsSince } from './metrics.ts';

const APPEND_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 20];
const STORE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120];

const OPERATIONS = ['put', 'get', 'stat', 'check_out'] as const;
const FAULTS = [
  'ARCHIVE_STORE_UNAVAILABLE',
  'OBJECT_MISSING',
  'OBJECT_CORRUPT',
  'OBJECT_UNREADABLE',
] as const;
const BROKEN = ['MD5_MISMATCH', 'SHA256_MISMATCH', 'LENGTH_MISMATCH', 'TOO_LARGE'] as const;

const APPEND_OUTCOMES = ['appended', 'conflict', 'unavailable', 'failed'] as const;

/** Counts and times the appends of this node, and counts the outcomes of checks and loads among their events. */
export function logMetrics(metrics: Metrics): Observer<EventLog> {
  const appends = metrics.counter('event_log_appends_total', 'Appends of this node, by outcome', ['outcome']);
  const durations = metrics.histogram(
    'event_log_append_duration_seconds',
    'From an append until it is durable, refused or aborted',
    APPEND_SECONDS,
  );
  const inFlight = metrics.gauge(
    'event_log_appends_in_flight',
    'Appends that wait to be durable: the queue of the writer',
  );
  const appended = metrics.counter('event_log_events_appended_total', 'Events that this node appended', [
    'type',
  ]);
  const countOutcomes = outcomeCounter(metrics);
  for (const outcome of APPEND_OUTCOMES) appends.inc({ outcome }, 0);
  return {
    append: async (append, stream, expected, events, options) => {
      const started = clock.monotonic();
      inFlight.inc();
      let outcome: (typeof APPEND_OUTCOMES)[number] = 'appended';
      try {
        return await append(stream, expected, events, options);
      } catch (error) {
        outcome = appendOutcome(error);
        throw error;
      } finally {
        inFlight.dec();
        durations.observe(secondsSince(started));
        appends.inc({ outcome });
        if (outcome === 'appended') {
          for (const { type } of events) appended.inc({ type });
          countOutcomes(events);
        }
      }
    },
  };
}

const OUTCOMES = {
  DepositVerified: 'verified',
  DepositRejected: 'rejected',
  DepositLoaded: 'loaded',
  LoadingFailed: 'failed',
} as const satisfies Partial<Record<DepositEvent['type'], string>>;

/** Returns a function that counts the outcomes of checks and loads among events. */
function outcomeCounter(metrics: Metrics): (events: readonly NewEvent[]) => void {
  const outcomes = metrics.counter('outcomes_total', 'Checks and loads of this node, by outcome', [
    'outcome',
  ]);
  const reasons = metrics.counter(
    'outcome_reasons_total',
    'Reasons why deposits were rejected or could not be loaded, each once per deposit',
    ['outcome', 'reason'],
  );
  for (const outcome of Object.values(OUTCOMES)) outcomes.inc({ outcome }, 0);
  return (events) => {
    for (const { type, data } of events) {
      if (!(type in OUTCOMES)) continue;
      const outcome = OUTCOMES[type as keyof typeof OUTCOMES];
      outcomes.inc({ outcome });
      for (const reason of codesIn(data)) reasons.inc({ outcome, reason });
    }
  };
}

/**
 * Returns the codes of the reasons. Codes are constants of this service, so their number is limited. The data are those
 * of the events above.
 */
function codesIn(data: object): ReadonlySet<string> {
  const { reasons = [], reason } = data as { reasons?: readonly Reason[]; reason?: Reason };
  return new Set([...reasons, ...(reason ? [reason] : [])].map(({ code }) => code));
}

function appendOutcome(error: unknown): (typeof APPEND_OUTCOMES)[number] {
  const code = codeOf(error);
  if (code === 'WRONG_EXPECTED_REVISION') return 'conflict';
  return code === 'EVENT_LOG_UNAVAILABLE' ? 'unavailable' : 'failed';
}

/** Counts and times the operations of the store, each in a span; that of a put includes the wait for its bytes. */
export function storeObserver(metrics: Metrics): Observer<ObjectStore> {
  const durations = metrics.histogram(
    'archive_store_operation_duration_seconds',
    'Time that the store needed: for a put without waiting for its bytes, for a get until the first byte',
    STORE_SECONDS,
    ['operation'],
  );
  const errors = metrics.counter(
    'archive_store_errors_total',
    'Operations that failed because of the store',
    ['operation', 'code'],
  );
  const brokenPromises = metrics.counter(
    'archive_store_broken_promises_total',
    'Puts whose bytes did not match the announced digest or length',
    ['code'],
  );
  const bytes = metrics.counter('archive_store_stored_bytes_total', 'Bytes of the objects that were stored');
  // A counter that appears with its first event shows no increase.
  for (const operation of OPERATIONS) for (const code of FAULTS) errors.inc({ operation, code }, 0);
  for (const code of BROKEN) brokenPromises.inc({ code }, 0);

  /** Counts a fault of the store. Errors of the source of a put, or of the reader of a body, are not. */
  const countFault = (operation: (typeof OPERATIONS)[number], error: unknown): void => {
    const found = codeOf(error);
    for (const code of FAULTS) if (code === found) errors.inc({ operation, code });
    for (const code of BROKEN) if (code === found) brokenPromises.inc({ code });
  };
  const measured = <Result>(
    operation: (typeof OPERATIONS)[number],
    attributes: Attributes,
    work: (span: Span) => Promise<Result>,
    waiting = { seconds: 0 },
  ): Promise<Result> =>
    inSpan(`archive store ${operation}`, { attributes }, async (span) => {
      const started = clock.monotonic();
      try {
        const result = await work(span);
        durations.observe({ operation }, Math.max(0, secondsSince(started) - waiting.seconds));
        return result;
      } catch (error) {
        countFault(operation, error);
        throw error;
      }
    });
  return {
    put: (put, source, promised) => {
      const waiting = { seconds: 0 };
      const timedSource = Symbol.iterator in source ? source : timed(source, waiting);
      const work = async (span: Span) => {
        const stored = await put(timedSource, promised);
        span.setAttributes({ 'deposit.object': stored.sha256, 'deposit.bytes': stored.length });
        bytes.inc(stored.length);
        return stored;
      };
      return measured('put', {}, work, waiting);
    },
    get: (get, sha256, from) =>
      measured('get', { 'deposit.object': sha256 }, async () => {
        const object = await get(sha256, from);
        object.body.once('error', (error) => countFault('get', error));
        return object;
      }),
    stat: (stat, sha256) => measured('stat', { 'deposit.object': sha256 }, () => stat(sha256)),
    materialize: (materialize, sha256) =>
      measured('check_out', { 'deposit.object': sha256 }, () => materialize(sha256)),
  };
}

/** Passes chunks on and sums up the time spent waiting for them: an upload lasts as long as its client needs. */
async function* timed(
  source: AsyncIterable<Uint8Array>,
  waiting: { seconds: number },
): AsyncGenerator<Uint8Array, void> {
  let asked = clock.monotonic();
  for await (const piece of source) {
    waiting.seconds += secondsSince(asked);
    yield piece;
    asked = clock.monotonic();
  }
  waiting.seconds += secondsSince(asked);
}
