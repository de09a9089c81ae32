import {
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
  type EventStoreDBClient,
  type Filter,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import type { Position, RecordedEvent } from '../event-log.ts';
import type { EventStoreDbClient } from './client.ts';
import { ClientStream } from './client-stream.ts';
import type { CallOptions } from './connection.ts';
import { CallLost } from './faults.ts';
import { type LogPosition, toLogPosition, toPosition } from './position.ts';
import { toRecordedEvent } from './records.ts';

export type News = {
  readonly events: readonly RecordedEvent[];
  /** Position of the last event sent or filtered out, as far as the server tells. */
  readonly upTo: Position | undefined;
  /** The server said that it had sent everything. */
  readonly isCaughtUp: boolean;
};

/** What the client reports beside its events is put among them, so that it keeps its place in their order. */
type Item = AllStreamResolvedEvent | { readonly checkpoint: LogPosition } | { readonly caughtUp: true };

const BATCH = 500;
/** Events the server looks at before it tells how far it is; its default of 32 makes long logs slow. */
const SEARCH_WINDOW = 1000;

/** One subscription of the client to all streams with some prefixes, behind a position. */
export class SubscriptionFeed implements AsyncDisposable {
  readonly #stream: ClientStream<Item>;
  readonly #lost: AbortSignal;

  constructor(
    { client, lost }: EventStoreDbClient,
    options: CallOptions,
    after: Position | undefined,
    prefixes: readonly string[] | undefined,
  ) {
    this.#stream = new ClientStream(subscribed(client, options, after, prefixes));
    this.#lost = lost;
  }

  /** Nothing more has come yet. */
  get isDrained(): boolean {
    return this.#stream.isDrained;
  }

  /** Undefined when nothing came for `quiet` milliseconds. @throws {CallLost} it ended without a word. */
  async next(quiet: number, signal: AbortSignal): Promise<News | undefined> {
    const items = await this.#stream.take(BATCH, quiet, AbortSignal.any([signal, this.#lost]));
    if (items === undefined) throw new CallLost('The server ended the subscription.');
    return items.length === 0 ? undefined : newsOf(items);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stream[Symbol.asyncDispose]();
  }
}

function subscribed(
  client: EventStoreDBClient,
  options: CallOptions,
  after: Position | undefined,
  prefixes: readonly string[] | undefined,
): AllStreamSubscription {
  const fromPosition = after === undefined ? START : toLogPosition(after);
  const subscription: AllStreamSubscription = client.subscribeToAll(
    { ...options, fromPosition, filter: filterFor(prefixes) },
    { highWaterMark: BATCH },
  );
  subscription.on('caughtUp', () => void subscription.push({ caughtUp: true } satisfies Item));
  return subscription;
}

function filterFor(prefixes: readonly string[] | undefined): Filter {
  const common = {
    maxSearchWindow: SEARCH_WINDOW,
    checkpointInterval: 1,
    checkpointReached: (subscription: AllStreamSubscription, checkpoint: LogPosition) =>
      void subscription.push({ checkpoint } satisfies Item),
  };
  // Streams of the server itself begin with a dollar.
  return prefixes
    ? streamNameFilter({ ...common, prefixes: [...prefixes] })
    : streamNameFilter({ ...common, regex: '^[^$]' });
}

function newsOf(items: readonly Item[]): News {
  const events: RecordedEvent[] = [];
  let upTo: Position | undefined;
  let isCaughtUp = false;
  for (const item of items) {
    if ('caughtUp' in item) isCaughtUp = true;
    else {
      const position = 'checkpoint' in item ? item.checkpoint : item.event?.position;
      if (position) upTo = toPosition(position);
      const event = 'checkpoint' in item ? undefined : toRecordedEvent(item);
      if (event) events.push(event);
    }
  }
  return { events, upTo, isCaughtUp };
}
