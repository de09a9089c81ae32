import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { deposits } from '../../domain/aggregates.ts';
import type { EventLog, RecordedEvent } from '../../event-log/event-log.ts';
import { isNews } from '../../news/deposit-news.ts';
import { Places } from '../../places.ts';
import type { Projector, View } from '../../read-models/projector.ts';
import { SwordError } from '../../sword/sword-error.ts';
import { type Interest, OpenStream } from './open-stream.ts';

export type EventStreamsOptions = {
  readonly log: EventLog;
  readonly projector: Pick<Projector, 'listen'>;
  /** Kept by that projector. */
  readonly statuses: View<DepositStatusView>;
};

/** So many of one client, and of all, on this node. */
const [PER_CLIENT, IN_ALL] = [20, 1000];

/** The streams of events that are open on this node. One follower of the log wakes those that have news. */
export class EventStreams implements Disposable {
  readonly #options: EventStreamsOptions;
  readonly #streams = new Set<OpenStream>();
  readonly #places = new Places(IN_ALL, PER_CLIENT);
  readonly #ofDeposits = new Map<number, Set<OpenStream>>();
  readonly #ofCollections = new Set<OpenStream>();
  readonly #stopListening: () => void;
  #isOver = false;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
    this.#stopListening = options.projector.listen((events) => this.#tell(events));
  }

  /** How many are open: for those who watch the service. */
  get standing(): { readonly open: number } {
    return { open: this.#streams.size };
  }

  /** To be disposed of by whoever opened it. @throws {SwordError} 429, 503 */
  open(client: string, interest: Interest): OpenStream & Disposable {
    if (this.#isOver) throw stopping();
    const lack = this.#places.lackFor(client);
    if (lack === 'share taken') throw tooMany('TooManyRequests', `You have ${PER_CLIENT}`);
    if (lack === 'all taken') throw tooMany('ServiceUnavailable', `There are ${IN_ALL}`);
    const place = this.#places.take(client);
    const stream = new OpenStream(interest);
    this.#streams.add(stream);
    if ('depositId' in interest) this.#of(interest.depositId).add(stream);
    else this.#ofCollections.add(stream);
    const end = (): void => {
      place[Symbol.dispose]();
      this.#forget(stream);
    };
    return Object.assign(stream, { [Symbol.dispose]: end });
  }

  /** Ends all streams, and lets none begin. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#stopListening();
    for (const stream of this.#streams) stream.close();
  }

  /** What streams read from. */
  get log(): EventLog {
    return this.#options.log;
  }

  get statuses(): View<DepositStatusView> {
    return this.#options.statuses;
  }

  #forget(stream: OpenStream): void {
    stream.close();
    this.#streams.delete(stream);
    this.#ofCollections.delete(stream);
    if (!('depositId' in stream.interest)) return;
    const { depositId } = stream.interest;
    this.#of(depositId).delete(stream);
    if (this.#of(depositId).size === 0) this.#ofDeposits.delete(depositId);
  }

  #of(depositId: number): Set<OpenStream> {
    const known = this.#ofDeposits.get(depositId) ?? new Set();
    this.#ofDeposits.set(depositId, known);
    return known;
  }

  #tell(events: readonly RecordedEvent[]): void {
    if (this.#streams.size === 0) return;
    for (const event of events) {
      if (event.stream.startsWith(deposits.prefix) && isNews(event)) this.#wake(event);
    }
    const last = events.at(-1);
    if (last) for (const stream of this.#ofCollections) stream.passed(last.position);
  }

  #wake(event: RecordedEvent): void {
    const depositId = Number(event.data['depositId']);
    for (const stream of this.#ofDeposits.get(depositId) ?? []) stream.wake();
    if (this.#ofCollections.size === 0) return;
    const deposit = this.#options.statuses.get(String(depositId)); // none when it has been deleted
    for (const stream of this.#ofCollections) {
      if (!deposit || isOf(deposit, stream.interest)) stream.wake();
    }
  }
}

function isOf({ client, collection }: DepositStatusView, interest: Interest): boolean {
  return 'client' in interest && interest.client === client && interest.collection === collection;
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
