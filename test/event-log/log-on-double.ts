import { setTimeout } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import type { EventStoreDbOptions } from '../../src/event-log/eventstoredb/settings.ts';
import {
  type DoubleOptions,
  EventStoreDbDouble,
} from '../../testing/eventstoredb-double/eventstoredb-double.ts';

export type LogOnDouble = {
  readonly double: EventStoreDbDouble;
  readonly log: EventStoreDbEventLog;
  /** Opens another client of the same server. */
  readonly another: (options?: Partial<EventStoreDbOptions>) => Promise<EventStoreDbEventLog>;
};

/** Opens a log with short times, so that what takes ten seconds in production takes a fraction of one. */
export async function logOnDouble(
  t: ExecutionContext,
  options: Partial<EventStoreDbOptions> = {},
  doubleOptions: DoubleOptions = {},
): Promise<LogOnDouble> {
  // Unpacking a page of a thousand events takes the client longer than the short times allow.
  const double = await EventStoreDbDouble.start({ compresses: false, ...doubleOptions });
  const another = async (more: Partial<EventStoreDbOptions> = {}) => {
    const times = { callTimeout: 300, retryTimeout: 3000, firstPause: 10, longestPause: 200 };
    const { connectionString } = double;
    const log = await EventStoreDbEventLog.open({ connectionString, ...times, ...options, ...more });
    t.teardown(() => log[Symbol.asyncDispose]());
    return log;
  };
  const log = await another();
  t.teardown(() => double[Symbol.asyncDispose]()); // before the logs: no hanging call delays them
  return { double, log, another };
}

/** Polls until the condition holds; the time limit of the test bounds it. */
export async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(5);
}
