import { randomUUID } from 'node:crypto';
import {
  type AllStreamRecordedEvent,
  type AppendExpectedRevision,
  EventStoreDBClient,
  type JSONEventType,
  jsonEvent,
  START,
} from '@eventstore/db-client';
import type { CallOptions, ChannelCredentials, Metadata } from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import { credentialsOf } from '../../../src/event-log/eventstoredb/settings.ts';
import {
  type DoubleOptions,
  EventStoreDbDouble,
} from '../../../testing/eventstoredb-double/eventstoredb-double.ts';

/** A real server or cluster; the user in it has to be an admin. What the tests write there stays. */
const SERVER_URL = process.env['EVENTSTORE_URL'];

/** Times of a server are divided by this on the double, whose clock of the groups is faster by it. */
const ACCELERATION = SERVER_URL === undefined ? 10 : 1;

/**
 * `both`: the double, or the server at `EVENTSTORE_URL`. `users`: the same, but a server needs TLS for it. `double`: no
 * client can cause what the rule is about.
 */
export type Where = 'both' | 'users' | 'double';

/** The rules that have a test, for comparison with the page that lists them. */
export const rules: { readonly title: string; readonly where: Where }[] = [];

export function rule(where: Where, title: string, body: (t: ExecutionContext) => Promise<void>): void {
  rules.push({ title, where });
  const isSecure = SERVER_URL === undefined || !/[?&]tls=false\b/i.test(SERVER_URL);
  const runs = where === 'both' || (where === 'users' ? isSecure : SERVER_URL === undefined);
  (runs ? test.serial : test.skip)(title, body);
}

export type Note = JSONEventType<'Noted', { readonly number: number }>;

/** A server that follows the rules, and the names of one test on it. */
export type RulesServer = {
  readonly connectionString: string;
  readonly client: EventStoreDBClient;
  /** Opens another connection. */
  readonly another: () => EventStoreDBClient;
  readonly options: ReturnType<typeof callOptions>;
  /** Returns the name of a stream or group of this test. */
  readonly own: (name: string) => string;
  readonly append: (stream: string, count?: number, expected?: AppendExpectedRevision) => Promise<string[]>;
  /** Appends many events, on the double without the way over the network. */
  readonly fill: (stream: string, count: number) => Promise<void>;
  /** Loads every group from its checkpoint, as a restart of the server does. */
  readonly restartGroups: () => Promise<void>;
};

/** Returns the server of the environment, or a double with these options. */
export async function rulesServer(t: ExecutionContext, options: DoubleOptions = {}): Promise<RulesServer> {
  if (SERVER_URL !== undefined) return on(t, SERVER_URL);
  return (await rulesDouble(t, options)).server;
}

export async function rulesDouble(
  t: ExecutionContext,
  options: DoubleOptions = {},
): Promise<{ readonly server: RulesServer; readonly double: EventStoreDbDouble }> {
  const double = await EventStoreDbDouble.start({ tickMs: accelerated(1000), ...options });
  const server = on(t, withAdmin(double.connectionString, options));
  t.teardown(() => double[Symbol.asyncDispose]());
  const fill = async (stream: string, count: number) => {
    const bytes = new Uint8Array(2);
    const event = { type: 'Filled', contentType: 'application/octet-stream', data: bytes, metadata: bytes };
    const events = Array.from({ length: count }, () => ({ ...event, id: randomUUID() }));
    double.log.append(stream, 'any', events);
  };
  return { server: { ...server, fill }, double };
}

function on(t: ExecutionContext, connectionString: string): RulesServer {
  const another = () => {
    const client = EventStoreDBClient.connectionString(connectionString);
    t.teardown(() => client.dispose());
    return client;
  };
  const [client, options] = [another(), callOptions(connectionString)];
  const prefix = `r${randomUUID().slice(0, 8)}`;
  return {
    connectionString,
    client,
    another,
    options,
    own: (name) => `${prefix}-${name}`,
    append: async (stream, count = 1, expectedRevision = 'any') => {
      const events = notes(count);
      await client.appendToStream(stream, events, { ...options, expectedRevision });
      return events.map(({ id }) => id);
    },
    fill: async (stream, count) => {
      for (let left = count; left > 0; left -= 1000)
        await client.appendToStream(stream, notes(Math.min(left, 1000)), options);
    },
    restartGroups: () => client.restartPersistentSubscriptionSubsystem(options),
  };
}

/** Returns a time of a server as it is where the tests run, in milliseconds. */
export function accelerated(milliseconds: number): number {
  return milliseconds / ACCELERATION;
}

/** Returns options with which a call names its user, and is for the leader. */
export function callOptions(connectionString: string) {
  return { credentials: credentialsOf({ connectionString }), requiresLeader: true, deadline: 30_000 };
}

export function notes(count: number): ReturnType<typeof jsonEvent<Note>>[] {
  return Array.from({ length: count }, (_, number) =>
    jsonEvent<Note>({ id: randomUUID(), type: 'Noted', data: { number } }),
  );
}

/** Returns the events of a stream, or of `$all` without a name. */
export async function readAll(
  { client, options }: RulesServer,
  stream?: string,
): Promise<readonly AllStreamRecordedEvent[]> {
  const found: AllStreamRecordedEvent[] = [];
  const events =
    stream === undefined
      ? client.readAll({ ...options })
      : client.readStream(stream, { ...options, fromRevision: START });
  for await (const { event } of events) if (event) found.push(event as AllStreamRecordedEvent);
  return found;
}

type Grpc<Client> = new (address: string, credentials: ChannelCredentials) => Client;

/** Returns a generated client on the connection of the server's, and the arguments of its calls. */
export async function grpcClient<Client>({ client, options }: RulesServer, generated: Grpc<Client>) {
  const internals = client as unknown as {
    getGRPCClient(generated: Grpc<Client>, name: string): Promise<Client>;
    callArguments(options: object): [Metadata, CallOptions];
  };
  return {
    client: await internals.getGRPCClient(generated, 'rules'),
    call: internals.callArguments(options),
  };
}

function withAdmin(connectionString: string, { users }: DoubleOptions): string {
  return users ? connectionString.replace('//', '//admin:changeit@') : connectionString;
}
