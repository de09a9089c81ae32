import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { isStatusChange } from '../../deposits/status-change.ts';
import { deposits } from '../../domain/aggregates.ts';
import type { EventLog, RecordedEvent } from '../../event-log/event-log.ts';
import { SwordError } from '../../sword/sword-error.ts';
import { FairSemaphore } from '../../tools/concurrency/fair-semaphore.ts';
import type { Projector } from '../../views/projector.ts';
import type { View } from '../../views/view.ts';
import { OpenStream, type Subscription } from './open-stream.ts';

export type EventStreamsOptions = {
  readonly log: EventLog;
  readonly projector: Pick<Projector, 'listen'>;
  /** View of that projector. */
  readonly statuses: View<DepositStatusView>;
};

/** Maximum number of open streams on this node, per client and in total. */
const [MAX_PER_CLIENT, MAX_TOTAL] = [20, 1000];

/** The open event streams of this node. One subscriber of the log wakes those with new changes. */
export class EventStreams implements Disposable {
  readonly #options: EventStreamsOptions;
  readonly #streams = new Set<OpenStream>();
  readonly #semaphore = new FairSemaphore({
    limit: MAX_TOTAL,
    ownerLimit: MAX_PER_CLIENT,
    refuse: (reached) =>
      reached === 'owner'
        ? tooMany('TooManyRequests', `You have ${MAX_PER_CLIENT}`)
        : tooMany('ServiceUnavailable', `There are ${MAX_TOTAL}`),
  });
  readonly #byDeposit = new Map<number, Set<OpenStream>>();
  readonly #forCollections = new Set<OpenStream>();
  readonly #stopListening: () => void;
  #isOver = false;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
    this.#stopListening = options.projector.listen((events) => this.#publish(events));
  }

  /** Number of open streams, for monitoring. */
  get status(): { readonly open: number } {
    return { open: this.#streams.size };
  }

  /**
   * Opens a stream, which the caller must dispose of.
   * @throws {SwordError} 429, 503
   */
  open(client: string, subscription: Subscription): OpenStream & Disposable {
    if (this.#isOver) throw stopping();
    const permit = this.#semaphore.acquireNow(client);
    const stream = new OpenStream(subscription);
    this.#streams.add(stream);
    if ('depositId' in subscription) this.#streamsOf(subscription.depositId).add(stream);
    else this.#forCollections.add(stream);
    const end = (): void => {
      permit[Symbol.dispose]();
      this.#forget(stream);
    };
    return Object.assign(stream, { [Symbol.dispose]: end });
  }

  /** Ends all streams and prevents new ones. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#stopListening();
    for (const stream of this.#streams) stream.close();
  }

  /** Log from which streams are read. */
  get log(): EventLog {
    return this.#options.log;
  }

  get statuses(): View<DepositStatusView> {
    return this.#options.statuses;
  }

  #forget(stream: OpenStream): void {
    stream.close();
    this.#streams.delete(stream);
    this.#forCollections.delete(stream);
    if (!('depositId' in stream.subscription)) return;
    const { depositId } = stream.subscription;
    this.#streamsOf(depositId).delete(stream);
    if (this.#streamsOf(depositId).size === 0) this.#byDeposit.delete(depositId);
  }

  #streamsOf(depositId: number): Set<OpenStream> {
    const known = this.#byDeposit.get(depositId) ?? new Set();
    this.#byDeposit.set(depositId, known);
    return known;
  }

  #publish(events: readonly RecordedEvent[]): void {
    if (this.#streams.size === 0) return;
    for (const event of events) {
      if (event.stream.startsWith(deposits.prefix) && isStatusChange(event)) this.#wake(event);
    }
    const last = events.at(-1);
    if (last) for (const stream of this.#forCollections) stream.skipTo(last.position);
  }

  #wake(event: RecordedEvent): void {
    const depositId = Number(event.data['depositId']);
    for (const stream of this.#byDeposit.get(depositId) ?? []) stream.wake();
    if (this.#forCollections.size === 0) return;
    const deposit = this.#options.statuses.get(String(depositId)); // undefined after a deletion
    for (const stream of this.#forCollections) {
      if (!deposit || matches(deposit, stream.subscription)) stream.wake();
    }
  }
}

function matches({ client, collection }: DepositStatusView, subscription: Subscription): boolean {
  return 'client' in subscription && subscription.client === client && subscription.collection === collection;
}

function stopping(): SwordError {
  return new SwordError('ServiceUnavailable', 'The service is stopping.', {
    headers: { 'Retry-After': '5' },
  });
}

function tooMany(code: 'TooManyRequests' | 'ServiceUnavailable', how: string): SwordError {
  const text = `${how} event streams open, which is as many as may be: try again when one has ended.`;
  return new SwordError(code, text, { headers: { 'Retry-After': '30' } });
}
