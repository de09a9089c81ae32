import type { UndeliveredNotifications } from '../../../projections/undelivered-notifications.ts';
import { notifications } from '../../domain/aggregates.ts';
import { pluralize } from '../../domain/description.ts';
import type { Position, RecordedEvent } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';
import { isTransient } from '../../tools/concurrency/transient-faults.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import type { Logger } from '../../tools/logger.ts';
import { RepeatedFaults } from '../../tools/repeated-faults.ts';
import type { Projector } from '../../views/projector.ts';
import type { ReachedByQueries, View } from '../../views/view.ts';
import { MAX_PAUSE_MS } from './circuit-breaker.ts';
import type { PendingNotifications } from './pending-notifications.ts';
import { RestingDeposits } from './resting-deposits.ts';
import type { WebhookSender } from './webhook-sender.ts';
import { VIEW_TIMEOUT_MS, type Webhooks } from './webhooks.ts';

export type RetrySchedulerOptions = {
  readonly deliveries: PendingNotifications;
  readonly sender: WebhookSender;
  readonly webhooks: Webhooks;
  readonly projector: Pick<Projector, 'listen'>;
  /** View of that projector. */
  readonly undelivered: View<UndeliveredNotifications>;
  /** Position of the log that queries of that view reflect. */
  readonly queries: Pick<ReachedByQueries, 'isCurrent' | 'passed'>;
  readonly logger: Logger;
  /** Milliseconds after which a waiting notification is given up. */
  readonly giveUpAfter: number;
};

const POLL_INTERVAL_MS = 500;
/** Maximum milliseconds between two looks at the notifications of a client of which none can be delivered. */
const MAX_REST_MS = 10_000;
const MAX_EXPIRY_INTERVAL_MS = 60_000;
const EXPIRY_BATCH = 1000;
/** Milliseconds after which the same fault is logged again. */
const LOG_AGAIN_AFTER_MS = 60_000;
const MAX_CONCURRENT = 64;
/** Milliseconds that a stop waits for deliveries in progress, and then for recording that they were aborted. */
const [STOP_TIMEOUT_MS, ABORT_GRACE_MS] = [2000, 1000];
const NO_WEBHOOK = 'The client no longer has a webhook.';

/** Until when a client is not looked at, by `clock.now()`, and whether its circuit breaker allowed deliveries before. */
type Rest = { readonly until: number; readonly hadPermits: boolean };

/**
 * Delivers held notifications: in order for each deposit, concurrently for a client as far as its circuit breaker
 * allows, and concurrently for all clients. Gives up those that have waited too long. Pauses while the disk accepts no
 * changes of the view, which would report the same deposits as due repeatedly.
 */
export class RetryScheduler {
  readonly #options: RetrySchedulerOptions;
  readonly #stop = new AbortController();
  readonly #abort = new AbortController();
  readonly #inFlight = new Map<number, { readonly client: string; readonly work: Promise<void> }>();
  /** Clients of which nothing could be delivered at the last look: each look takes queries, and there may be thousands. */
  readonly #resting = new Map<string, Rest>();
  readonly #restingDeposits = new RestingDeposits();
  /** By the number of the deposit, if there is one. */
  readonly #faults = new RepeatedFaults<number | undefined>(LOG_AGAIN_AFTER_MS);
  readonly #stopListening: () => void;
  #running: Promise<void> | undefined;
  #expiredAt = -Infinity;
  #expired = 0;

  constructor(options: RetrySchedulerOptions) {
    this.#options = options;
    this.#stopListening = options.projector.listen((events) => {
      for (const event of events) if (event.stream.startsWith(notifications.prefix)) this.#wake(event);
    });
  }

  /** Number of deposits with waiting notifications, and of those that this node is delivering. */
  get status(): { readonly waiting: number; readonly underWay: number } {
    let waiting = 0;
    for (const [client, count] of this.#options.undelivered.counts()) if (client !== '') waiting += count;
    return { waiting, underWay: this.#inFlight.size };
  }

  /** Number of notifications since the start that this node has given up because they had waited too long. */
  get expired(): number {
    return this.#expired;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopListening();
    this.#stop.abort();
    await this.#running;
    const ended = Promise.all(this.#inFlight.values().map(({ work }) => work));
    await withTimeout(ended, STOP_TIMEOUT_MS);
    this.#abort.abort();
    await withTimeout(ended, ABORT_GRACE_MS);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        if (this.#options.queries.isCurrent()) {
          await this.#expire();
          this.#fillAll();
          this.#faults.isOver(undefined);
        }
      } catch (error) {
        this.#warn(error);
      }
      await clock.sleep(POLL_INTERVAL_MS, signal).catch(() => undefined);
    }
  }

  #waitingClients(): readonly string[] {
    return [...this.#options.undelivered.counts().keys()].filter((client) => client !== '');
  }

  /** Fills the clients with the fewest deliveries first: slow receivers of others must not use every place. */
  #fillAll(): void {
    const underWay = Map.groupBy(this.#inFlight.values(), ({ client }) => client);
    const countOf = (client: string): number => underWay.get(client)?.length ?? 0;
    for (const client of this.#waitingClients().toSorted((a, b) => countOf(a) - countOf(b))) {
      if (this.#inFlight.size >= MAX_CONCURRENT) return;
      if (!this.#isResting(client)) this.#fill(client);
    }
  }

  /** Looks at a client again: the notifications of one of its deposits have changed, or an operator requeued them. */
  #wake({ stream, type }: RecordedEvent): void {
    const changed = this.#options.undelivered.get(stream.slice(notifications.prefix.length));
    if (!changed) return;
    this.#resting.delete(changed.client);
    if (type === 'NotificationsRequeued') this.#options.sender.allowProbe(changed.client);
  }

  #isResting(client: string): boolean {
    const rest = this.#resting.get(client);
    if (!rest) return false;
    const left = rest.until - clock.now(); // beyond the maximum if the clock was set back
    return left > 0 && left <= MAX_REST_MS && rest.hadPermits === this.#permitsOf(client) > 0;
  }

  /** Number of deliveries that may begin for the client, by its circuit breaker. */
  #permitsOf(client: string): number {
    const { webhooks, sender } = this.#options;
    const webhook = webhooks.current(client);
    return webhook ? sender.breakerOf(webhook).permits : MAX_CONCURRENT;
  }

  /** Starts as many deliveries as the client's circuit breaker allows. */
  #fill(client: string): void {
    const { webhooks, sender, deliveries } = this.#options;
    const webhook = webhooks.current(client);
    const places = MAX_CONCURRENT - this.#inFlight.size;
    if (!webhook) {
      for (const depositId of this.#due(client, places)) {
        const over = deliveries.giveUp(depositId, NO_WEBHOOK, () => true).then((given) => given?.position);
        this.#begin(client, depositId, over);
      }
      return;
    }
    const breaker = sender.breakerOf(webhook);
    if (breaker.permits === 0) this.#rest(client, Infinity);
    for (const depositId of this.#due(client, Math.min(breaker.permits, places))) {
      breaker.tryAcquire();
      const work = deliveries.deliver(depositId, webhook, breaker, this.#abort.signal);
      const released = work.finally(() => breaker.release());
      this.#begin(client, depositId, released);
    }
  }

  /** Returns up to `permits` deposits of the client whose notifications are due, without those that rest. */
  #due(client: string, permits: number): readonly number[] {
    if (permits <= 0) return [];
    const resting = this.#restingDeposits.of(client);
    const limit = permits + this.#inFlight.size + resting.size;
    const waiting = { equal: { waitingFor: client }, orderBy: 'dueAt', limit } as const;
    const now = clock.now();
    const at = (wait: number) => ({ field: 'dueAt', value: new Date(now + wait).toISOString() });
    const due = [
      ...this.#options.undelivered.find({ ...waiting, upTo: at(0) }),
      // Due times of a clock that was set back since.
      ...this.#options.undelivered.find({ ...waiting, from: at(MAX_PAUSE_MS) }),
    ];
    const ids = due.map(({ depositId }) => depositId);
    const others = ids.filter((id) => !this.#inFlight.has(id) && !resting.has(id));
    if (others.length < permits) {
      const [next] = this.#options.undelivered.find({ ...waiting, from: at(1), limit: 1 });
      this.#rest(client, next ? Date.parse(next.dueAt) : Infinity);
    }
    return others.slice(0, permits);
  }

  /** Does not look at a client for a while, unless the look missed changes of the view that have woken it before. */
  #rest(client: string, until: number): void {
    if (!this.#options.queries.isCurrent()) return;
    const hadPermits = this.#permitsOf(client) > 0;
    this.#resting.set(client, { until: Math.min(until, clock.now() + MAX_REST_MS), hadPermits });
  }

  /** Tracks a delivery. The deposit is not scheduled again before the view shows the outcome. */
  #begin(client: string, depositId: number, work: Promise<Position | undefined>): void {
    const finish = async (): Promise<void> => {
      const position = await work;
      this.#faults.isOver(depositId);
      this.#restingDeposits.succeeded(depositId);
      const { queries } = this.#options;
      const isShown = position === undefined || (await queries.passed(position, VIEW_TIMEOUT_MS));
      const wasFull = this.#inFlight.size >= MAX_CONCURRENT;
      this.#inFlight.delete(depositId);
      if (!isShown || this.#stop.signal.aborted) return;
      try {
        if (wasFull) this.#fillAll();
        else this.#fill(client);
      } catch (error) {
        this.#warn(error); // the fault is not of this deposit
      }
    };
    const fail = (error: unknown): void => {
      this.#inFlight.delete(depositId);
      this.#restingDeposits.failed(client, depositId, error);
      this.#warn(error, { client, depositId });
    };
    this.#inFlight.set(depositId, { client, work: finish().catch(fail) });
  }

  async #expire(): Promise<void> {
    const { undelivered, deliveries, giveUpAfter } = this.#options;
    if (clock.monotonic() - this.#expiredAt < Math.min(giveUpAfter / 10, MAX_EXPIRY_INTERVAL_MS)) return;
    this.#expiredAt = clock.monotonic();
    const limit = new Date(clock.now() - giveUpAfter).toISOString();
    const upTo = { field: 'heldSince', value: limit };
    const expiry = `Not delivered within ${hours(giveUpAfter)}.`;
    for (const client of this.#waitingClients()) {
      const expired = undelivered.find({ equal: { waitingFor: client }, upTo, limit: EXPIRY_BATCH });
      for (const { depositId, reason } of expired) {
        if (this.#inFlight.has(depositId)) continue;
        // Since an earlier notification of the deposit expired, there may have been no attempt.
        const text = reason?.startsWith(expiry) ? reason : `${expiry} ${reason}`;
        try {
          const given = await deliveries.giveUp(depositId, text, ({ heldAt }) => heldAt <= limit);
          this.#expired += given?.count ?? 0;
        } catch (error) {
          this.#warn(error, { client, depositId });
          if (isTransient(error)) return; // the log is away
        }
      }
    }
  }

  #warn(err: unknown, about: { readonly client?: string; readonly depositId?: number } = {}): void {
    if (this.#stop.signal.aborted || !this.#faults.isNews(about.depositId, String(err))) return;
    this.#options.logger.warn({ ...about, err }, 'retry of notifications failed');
  }
}

function hours(milliseconds: number): string {
  return pluralize(Math.round(milliseconds / 3_600_000), 'hour');
}
