import {
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
  type EventStoreDBClient,
  type Filter,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import type { Position, RecordedEvent } from '../event-log.ts';
import { ClientStream } from './client-stream.ts';
import type { CallOptions } from './connection.ts';
import type { DroppableClient } from './droppable-client.ts';
import { CallLost } from './errors.ts';
import { toLogPosition } from './position.ts';
import { toRecordedEvent } from './to-recorded-event.ts';

type Batch = {
  readonly events: readonly RecordedEvent[];
  /**
   * Information of the server about events that it does not send: it filtered some out (`checkpoint`), or it has sent
   * all existing ones (`caughtUp`). The positions of checkpoints are not passed on: servers before 24.10.5 sent some at
   * or after an event that arrived later.
   */
  readonly hint: Hint | undefined;
};

export type Hint = 'checkpoint' | 'caughtUp';

/** An event or a hint. Hints are queued among the events, so that they wake the reader like an event does. */
type Item = AllStreamResolvedEvent | { readonly hint: Hint };

const BATCH = 500;
/** Number of events that the server examines between two checkpoints; its default of 32 makes long logs slow. */
const SEARCH_WINDOW = 1000;

/** The batches of one subscription of the client to all streams with some prefixes, after a position. */
export class SubscriptionBatches implements AsyncDisposable {
  readonly #stream: ClientStream<Item>;
  readonly #stop: AbortSignal;

  constructor(
    { driver, lost }: DroppableClient,
    options: CallOptions,
    after: Position | undefined,
    prefixes: readonly string[] | undefined,
    signal: AbortSignal,
  ) {
    this.#stream = new ClientStream(subscribed(driver, options, after, prefixes));
    this.#stop = AbortSignal.any([signal, lost]);
  }

  /** Whether no further item has arrived yet. */
  get isDrained(): boolean {
    return this.#stream.isDrained;
  }

  /**
   * Resolves to the next batch, or to `undefined` after `quiet` milliseconds without one. @throws {CallLost} the
   * subscription ended without an error.
   */
  async next(quiet: number): Promise<Batch | undefined> {
    const items = await this.#stream.take(BATCH, quiet, this.#stop);
    if (items === undefined) throw new CallLost('The server ended the subscription.');
    return items.length === 0 ? undefined : batchOf(items);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stream[Symbol.asyncDispose]();
  }
}

function subscribed(
  driver: EventStoreDBClient,
  options: CallOptions,
  after: Position | undefined,
  prefixes: readonly string[] | undefined,
): AllStreamSubscription {
  const fromPosition = after === undefined ? START : toLogPosition(after);
  const subscription: AllStreamSubscription = driver.subscribeToAll(
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
  // Names of the server's own streams begin with a dollar.
  return prefixes
    ? streamNameFilter({ ...common, prefixes: [...prefixes] })
    : streamNameFilter({ ...common, regex: '^[^$]' });
}

function batchOf(items: readonly Item[]): Batch {
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
