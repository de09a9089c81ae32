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
import { toLogPosition } from './position.ts';
import { toRecordedEvent } from './records.ts';

export type News = {
  readonly events: readonly RecordedEvent[];
  /**
   * What the server says about events that it does not send: that it left out some (`checkpoint`), or that it has sent
   * all there are (`caughtUp`). The positions of checkpoints are not passed on: servers before 24.10.5 sent some at or
   * beyond an event that came later.
   */
  readonly hint: Hint | undefined;
};

export type Hint = 'checkpoint' | 'caughtUp';

/** Hints are put among the events, so that they wake the reader like an event does. */
type Item = AllStreamResolvedEvent | { readonly hint: Hint };

const BATCH = 500;
/** Events that the server looks at between two checkpoints; its default of 32 makes long logs slow. */
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

  /** Resolves to `undefined` when nothing came for `quiet` milliseconds. @throws {CallLost} it ended without an error. */
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
  subscription.on('caughtUp', () => void subscription.push({ hint: 'caughtUp' } satisfies Item));
  return subscription;
}

function filterFor(prefixes: readonly string[] | undefined): Filter {
  const common = {
    maxSearchWindow: SEARCH_WINDOW,
    checkpointInterval: 1,
    checkpointReached: (subscription: AllStreamSubscription) =>
      void subscription.push({ hint: 'checkpoint' } satisfies Item),
  };
  // Streams of the server itself begin with a dollar.
  return prefixes
    ? streamNameFilter({ ...common, prefixes: [...prefixes] })
    : streamNameFilter({ ...common, regex: '^[^$]' });
}

function newsOf(items: readonly Item[]): News {
  const events: RecordedEvent[] = [];
  let hint: Hint | undefined;
  for (const item of items) {
    if ('hint' in item) {
      if (hint !== 'caughtUp') hint = item.hint;
    } else {
      const event = toRecordedEvent(item);
      if (event) events.push(event);
    }
  }
  return { events, hint };
}
