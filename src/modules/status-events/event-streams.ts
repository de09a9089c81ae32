import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { isStatusChange } from '../../deposits/status-change.ts';
import { clients, deposits } from '../../domain/aggregates.ts';
import { actorOf, type Position, type RecordedEvent } from '../../event-log/event-log.ts';
import { retryAfter, SwordError } from '../../sword/sword-error.ts';
import { FairSemaphore } from '../../tools/concurrency/fair-semaphore.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import type { Projector } from '../../views/projector.ts';
import type { View } from '../../views/view.ts';

export type EventStreamsOptions = {
  readonly projector: Pick<Projector, 'listen'>;
  /** View of that projector. */
  readonly statuses: View<DepositStatusView>;
};

/** Maximum number of open streams on this node, per client and in total. */
const [MAX_PER_CLIENT, MAX_TOTAL] = [20, 1000];

/** The open event streams of this node. One subscriber of the log wakes those with new changes, and those of a changed client. */
export class EventStreams implements Disposable {
  readonly #statuses: View<DepositStatusView>;
  /** The open streams, with their clients. */
  readonly #streams = new Map<OpenStream, string>();
  readonly #semaphore = new FairSemaphore({
    limit: MAX_TOTAL,
    ownerLimit: MAX_PER_CLIENT,
    refuse: (reached) =>
      reached === 'owner'
        ? tooMany('TooManyRequests', `You have ${MAX_PER_CLIENT}`)
        : tooMany('ServiceUnavailable', `There are ${MAX_TOTAL}`),
  });
  readonly #stopListening: () => void;
  #isOver = false;

  constructor({ projector, statuses }: EventStreamsOptions) {
    this.#statuses = statuses;
    this.#stopListening = projector.listen((events) => this.#publish(events));
  }

  /** Opens a stream, which the caller must dispose of. @throws {SwordError} 429, 503 */
  open(client: string, subscription: Subscription): OpenStream & Disposable {
    if (this.#isOver) throw retryAfter('ServiceUnavailable', 'The service is stopping.', 5);
    const permit = this.#semaphore.acquireNow(client);
    const stream = new OpenStream(subscription);
    this.#streams.set(stream, client);
    const end = (): void => {
      permit[Symbol.dispose]();
      stream.close();
      this.#streams.delete(stream);
    };
    return Object.assign(stream, { [Symbol.dispose]: end });
  }

  /** Ends all streams and prevents new ones. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#stopListening();
    for (const stream of this.#streams.keys()) stream.close();
  }

  #publish(events: readonly RecordedEvent[]): void {
    if (this.#streams.size === 0) return;
    for (const event of events) {
      if (event.stream.startsWith(deposits.prefix) && isStatusChange(event)) this.#wake(event);
      if (event.stream.startsWith(clients.prefix)) this.#wakeStreamsOf(event);
    }
    const last = events.at(-1);
    if (last) for (const stream of this.#streams.keys()) stream.skipTo(last.position);
  }

  #wake(event: RecordedEvent): void {
    const owner = knownOwner(event, this.#statuses);
    for (const stream of this.#streams.keys()) {
      if (mayConcern(stream.subscription, event, owner)) stream.wake();
    }
  }

  /** Wakes the streams of a changed client: each ends if the client may no longer read it. */
  #wakeStreamsOf({ stream: changed }: RecordedEvent): void {
    for (const [stream, client] of this.#streams) {
      if (changed === `${clients.prefix}${client}`) stream.wake();
    }
  }
}

/** Owner of a deposit, and its collection if that is known, too. */
type Owner = Pick<DepositStatusView, 'client'> & Partial<Pick<DepositStatusView, 'collection'>>;

/**
 * Returns the owner of a changed deposit, as far as it is known. The view may not have the deposit yet, or no longer. Only
 * the owner changes it as a client.
 */
export function knownOwner(event: RecordedEvent, statuses: View<DepositStatusView>): Owner | undefined {
  const deposit = statuses.get(String(Number(event.data['depositId'])));
  if (deposit) return deposit;
  const { kind, name } = actorOf(event);
  return kind === 'client' ? { client: name } : undefined;
}

/** Returns whether a change of a deposit of this owner may be within the scope. */
export function mayConcern(
  subscription: Subscription,
  event: RecordedEvent,
  owner: Owner | undefined,
): boolean {
  if ('depositId' in subscription) return subscription.depositId === Number(event.data['depositId']);
  const { client, collection } = subscription;
  return (owner?.client ?? client) === client && (owner?.collection ?? collection) === collection;
}

function tooMany(code: 'TooManyRequests' | 'ServiceUnavailable', how: string): SwordError {
  const text = `${how} event streams open, the maximum: try again when one has ended.`;
  return retryAfter(code, text, 30);
}

/** Scope of a subscription: one deposit, or all of a client in a collection. */
export type Subscription =
  | { readonly depositId: number }
  | { readonly client: string; readonly collection: string };

/** One open event stream. It stores no events: it is woken when there are some, and reads them from the log. */
export class OpenStream {
  readonly subscription: Subscription;
  #isWoken = true;
  #isClosed = false;
  #waiting: (() => void) | undefined;
  #upTo: Position | undefined;

  constructor(subscription: Subscription) {
    this.subscription = subscription;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Position up to which every event was sent or does not match, as far as known. */
  get upTo(): Position | undefined {
    return this.#upTo;
  }

  wake(): void {
    this.#isWoken = true;
    this.#waiting?.();
  }

  /** Records that no event up to here matches, unless it was woken meanwhile. */
  skipTo(position: Position): void {
    if (!this.#isWoken && this.#waiting) this.#upTo = position;
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting?.();
  }

  /** Resolves when it is woken or closed, or after the timeout in milliseconds; the result says which. */
  async waitForChange(timeoutMs: number): Promise<'some' | 'none' | 'closed'> {
    if (!this.#isWoken && !this.#isClosed) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting = resolve;
      await withTimeout(promise, timeoutMs);
      this.#waiting = undefined;
    }
    if (this.#isClosed) return 'closed';
    if (!this.#isWoken) return 'none';
    this.#isWoken = false;
    return 'some';
  }
}
