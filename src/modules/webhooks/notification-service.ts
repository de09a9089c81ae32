import { undeliveredNotifications } from '../../../projections/undelivered-notifications.ts';
import type { Deliveries } from '../../event-log/consumer-groups/deliveries.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import type { EventLogParking } from '../../reactors/parking.ts';
import type { Reactor } from '../../reactors/reactor.ts';
import { ReactorRunner, type RunnerStatus } from '../../reactors/reactor-runner.ts';
import type { NotificationViews } from '../../reactors/sweep/notification-views.ts';
import { Iris } from '../../sword/iris.ts';
import type { Logger } from '../../tools/logger.ts';
import type { Projector } from '../../views/projector.ts';
import { KeyHealthCheck } from './key-health-check.ts';
import type { NotificationSettings } from './notification-settings.ts';
import { Notifier } from './notifier.ts';
import { PendingNotifications } from './pending-notifications.ts';
import { RetryScheduler } from './retry-scheduler.ts';
import { WebhookClient } from './webhook-client.ts';
import { WebhookSender, type WebhookSenderStatus } from './webhook-sender.ts';
import { Webhooks } from './webhooks.ts';

export type NotificationOptions = {
  readonly log: EventLog;
  readonly deliveries: Deliveries;
  readonly parking: EventLogParking;
  readonly projector: Projector;
  /** Views of that projector. */
  readonly notified: NotificationViews;
  readonly logger: Logger;
  readonly baseUrl: string;
  /** Name and version of this service. */
  readonly maker: { readonly name: string; readonly version: string };
  readonly config: {
    readonly webhooks: NotificationSettings;
    readonly refIdAliases: boolean;
    readonly reactionPause: number;
  };
  /** Resolves when the views of this node have caught up. */
  readonly ready: Promise<void>;
  /** Returns the reactor with its attempts observed. */
  readonly observed: (reactor: Reactor) => Reactor;
  /** Called if receiving events ends with an error. */
  readonly fail: (error: unknown) => void;
};

export type NotificationStatus = WebhookSenderStatus & {
  readonly notifier: RunnerStatus;
  /** Deposits with waiting notifications, on all nodes, and those that this node is delivering. */
  readonly waiting: number;
  readonly underWay: number;
  /** Number of notifications that expired: too old when their event was processed, or not accepted for too long. */
  readonly tooOld: number;
  /** Reason why secrets of webhooks cannot be opened, so that their clients are not notified. */
  readonly keyProblem: string | null;
};

/** Number of deposits notified concurrently; the circuit breaker of a client allows fewer. */
const CONCURRENCY = 64;

/** Notifies clients of their deposits until it is disposed of. */
export class NotificationService implements AsyncDisposable {
  readonly #webhooks: Webhooks;
  readonly #webhookClient: WebhookClient;
  readonly #keyHealth: KeyHealthCheck;
  readonly #sender: WebhookSender;
  readonly #notifier: Notifier;
  readonly #retries: RetryScheduler;
  readonly runner: ReactorRunner;
  readonly #lastError: () => string | undefined;

  constructor(options: NotificationOptions) {
    const { log, deliveries, parking, projector, notified, logger, config, maker } = options;
    const { webhooks: settings, refIdAliases } = config;
    this.#webhooks = new Webhooks(log, projector, notified.webhooks);
    this.#webhookClient = new WebhookClient(settings, `${maker.name}/${maker.version}`);
    const renderContext = { iris: new Iris(options.baseUrl), refIdAliases };
    this.#keyHealth = new KeyHealthCheck({
      keyFile: settings.keyFile,
      webhooks: () => this.#webhooks.all(),
      logger,
    });
    this.#sender = new WebhookSender({
      ...settings,
      webhookClient: this.#webhookClient,
      renderContext,
      onKeyProblem: () => void this.#keyHealth.check(),
      logger,
    });
    const delivering = { log, webhooks: this.#webhooks, sender: this.#sender, settings };
    this.#notifier = new Notifier({ ...delivering, parking, statuses: notified.statuses });
    this.runner = new ReactorRunner(options.observed(this.#notifier), {
      deliveries,
      parking,
      logger,
      slots: CONCURRENCY,
      firstPause: config.reactionPause,
    });
    this.#retries = new RetryScheduler({
      deliveries: new PendingNotifications(delivering),
      sender: this.#sender,
      webhooks: this.#webhooks,
      projector,
      undelivered: notified.undelivered,
      queries: projector.queriesOf(undeliveredNotifications),
      logger,
      giveUpAfter: settings.giveUpAfter,
    });
    this.#lastError = () => projector.lastError ?? deliveries.lastError(this.#notifier.name);
    this.#retries.start();
    options.ready.then(
      () => {
        // Events from before the first webhook are sent to no client. Without the views each would be looked up in the log.
        this.runner.start(options.fail, async () => this.#webhooks.startAt(projector.position));
        this.#keyHealth.start();
      },
      () => undefined, // the service ends
    );
  }

  get status(): NotificationStatus {
    return {
      notifier: this.runner.status,
      tooOld: this.#notifier.tooOld + this.#retries.expired,
      keyProblem: this.#keyHealth.problem ?? null,
      ...this.#sender.status,
      ...this.#retries.status,
    };
  }

  /**
   * Rejects with the reason why the notifier gets no events. Secrets that cannot be opened do not count: they are
   * no reason to send clients to another node, and readiness is public.
   */
  async assertFollows(): Promise<void> {
    const lastError = this.#lastError();
    if (lastError !== undefined) throw new Error(lastError);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#keyHealth[Symbol.dispose]();
    await Promise.all([this.runner.stop(), this.#retries.stop()]);
    this.#webhookClient[Symbol.dispose]();
  }
}
