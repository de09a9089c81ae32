import type { ExecutionContext } from 'ava';
import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import type { EventStoreDbOptions } from '../../src/event-log/eventstoredb/settings.ts';
import { type LogOnDouble, logOnDouble } from './log-on-double.ts';
import { type Interference, startLogProxy } from './log-proxy.ts';

/** Opens a log on the double, and the same log through a proxy that can alter calls. */
export async function logBehindProxy(
  t: ExecutionContext,
  interference: Interference,
  options: Partial<EventStoreDbOptions> = {},
): Promise<LogOnDouble & { readonly proxied: EventStoreDbEventLog }> {
  const server = await logOnDouble(t, { callTimeout: 5000, retryTimeout: 20_000 });
  const connectionString = await startLogProxy(t, server.double.port, interference);
  const times = {
    callTimeout: 5000,
    retryTimeout: 20_000,
    firstPause: 10,
    longestPause: 200,
    quietTime: 60_000,
  };
  const proxied = await EventStoreDbEventLog.open({ connectionString, ...times, ...options });
  t.teardown(() => proxied[Symbol.asyncDispose]());
  return { ...server, proxied };
}
