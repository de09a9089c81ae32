import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type {
  EventLog,
  JsonObject,
  NewEvent,
  Position,
  RecordedEvent,
} from '../../src/event-log/event-log.ts';

/** Connects one engine to the tests. */
export type LogEngine = {
  /** Returns the place of one log for one test; each `open` returns another instance on that same log. */
  readonly place: (t: ExecutionContext) => Promise<LogPlace>;
  /** Whether events survive the last instance. */
  readonly durable: boolean;
  /** Whether a new place is empty, as it is not on a server that all tests share. */
  readonly startsEmpty: boolean;
};

export type LogPlace = { open(): Promise<EventLog> };

/** One test's part of a log: others may write there, so its own streams are those below `prefix` after `start`. */
export type LogUnderTest = {
  readonly log: EventLog;
  readonly prefix: string;
  readonly own: { readonly after: Position | undefined; readonly streamPrefixes: readonly string[] };
  readonly stream: (name: string) => string;
  /** Opens another instance besides the first, as in another process. */
  readonly another: () => Promise<EventLog>;
  /** Closes the log and opens it again. */
  readonly reopened: () => Promise<EventLog>;
};

export async function logUnderTest(t: ExecutionContext, engine: LogEngine): Promise<LogUnderTest> {
  const place = await engine.place(t);
  const open = async () => {
    const opened = await place.open();
    t.teardown(() => opened[Symbol.asyncDispose]());
    return opened;
  };
  const log = await open();
  const prefix = `t${randomUUID().slice(0, 8)}-`;
  return {
    log,
    prefix,
    own: { after: await log.head(), streamPrefixes: [prefix] },
    stream: (name) => `${prefix}${name}`,
    another: open,
    reopened: async () => {
      await log[Symbol.asyncDispose]();
      return open();
    },
  };
}

export function newEvent(data: JsonObject = {}, type = 'NoteTaken'): NewEvent {
  return { id: randomUUID(), type, data, metadata: { schemaVersion: 1 } };
}

export function newEvents(count: number): NewEvent[] {
  return Array.from({ length: count }, (_, number) => newEvent({ number }));
}

/** Appends events one by one, as a command handler does. */
export async function appendEach(log: EventLog, stream: string, events: readonly NewEvent[]): Promise<void> {
  let expected: number | 'none' = 'none';
  for (const event of events) {
    expected = (await log.append(stream, expected, [event])).revision;
  }
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  return Array.fromAsync(items);
}

export function idsOf(events: readonly { readonly id: string }[]): string[] {
  return events.map(({ id }) => id);
}

export function revisionsOf(events: readonly RecordedEvent[]): number[] {
  return events.map(({ revision }) => revision);
}

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
