import { type ClientWebhook, clientWebhooks } from '../../projections/client-webhooks.ts';
import {
  type UndeliveredNotifications,
  undeliveredNotifications,
} from '../../projections/undelivered-notifications.ts';
import type { Deliveries } from '../event-log/deliveries.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { Logger } from '../logger.ts';
import type { NewsLanguage } from '../news/deposit-news.ts';
import { LogParking } from '../reactors/parking.ts';
import { ReactorRunner, type RunnerStanding } from '../reactors/reactor-runner.ts';
import type { Projector, View } from '../read-models/projector.ts';
import { Courier, type CourierStanding } from './courier.ts';
import { DepositDeliveries } from './deposit-deliveries.ts';
import { HeldDeliveries } from './held-deliveries.ts';
import { Notifier } from './notifier.ts';
import { Postman } from './postman.ts';
import { Webhooks } from './webhooks.ts';

export type NotificationOptions = {
  readonly log: EventLog;
  readonly deliveries: Deliveries;
  readonly projector: Projector;
  readonly views: NotificationViews;
  readonly logger: Logger;
  readonly language: NewsLanguage;
  readonly userAgent: string;
  readonly settings: NotificationSettings;
};

/** What operators choose. Times in milliseconds. */
export type NotificationSettings = {
  /** Holds the key that the secrets of webhooks are sealed with. */
  readonly keyFile: string;
  /** Receivers may be plain http and lie in private networks. */
  readonly allowPrivate: boolean;
  /** How long a notification is tried. */
  readonly giveUpAfter: number;
  /** Between the first two tries, and at the most between any two. */
  readonly firstPause: number;
  readonly longestPause: number;
};

export type NotificationViews = {
  readonly webhooks: View<ClientWebhook>;
  readonly undelivered: View<UndeliveredNotifications>;
};

export type NotificationStanding = CourierStanding & {
  /** `null` while no client has a webhook: then deposits are not even looked at. */
  readonly notifier: RunnerStanding | null;
  /** Deposits with notifications that wait, on whatever node, and those that this one works on. */
  readonly waiting: number;
  readonly underWay: number;
  /** Events that were older than notifications are tried when their turn came: nobody was told of them. */
  readonly tooOld: number;
};

/** Deposits that are told of at the same time; of one client its line takes fewer. */
const CONCURRENCY = 64;
const LOOK_EVERY = 500;

/** What is known on every node; before the projector starts. */
export function notificationViews(projector: Projector): NotificationViews {
  return { webhooks: projector.add(clientWebhooks), undelivered: projector.add(undeliveredNotifications) };
}

/** Notifies clients of their deposits, from now until it is disposed of. */
export class Notifications implements AsyncDisposable {
  readonly #webhooks: Webhooks;
  readonly #postman: Postman;
  readonly #courier: Courier;
  readonly #notifier: Notifier;
  readonly #held: HeldDeliveries;
  readonly #runner: ReactorRunner;
  readonly #timer: NodeJS.Timeout;
  #isFollowing = false;

  /** `failed` is called if events cannot be received any more. */
  constructor(options: NotificationOptions, failed: (error: unknown) => void) {
    const { log, deliveries, projector, views, logger, settings } = options;
    this.#webhooks = new Webhooks(log, projector, views.webhooks);
    this.#postman = new Postman(settings, options.userAgent);
    this.#courier = new Courier({ ...settings, postman: this.#postman, language: options.language });
    this.#notifier = new Notifier(log, this.#webhooks, this.#courier, settings.giveUpAfter);
    this.#runner = new ReactorRunner(this.#notifier, {
      deliveries,
      parking: new LogParking(log),
      logger,
      concurrency: CONCURRENCY,
    });
    this.#held = new HeldDeliveries({
      deliveries: new DepositDeliveries(log, this.#courier, settings),
      courier: this.#courier,
      webhooks: this.#webhooks,
      undelivered: views.undelivered,
      projector,
      logger,
      giveUpAfter: settings.giveUpAfter,
    });
    this.#held.start();
    this.#timer = setInterval(() => this.#followOnceNeeded(failed), LOOK_EVERY);
  }

  get standing(): NotificationStanding {
    return {
      notifier: this.#isFollowing ? this.#runner.standing : null,
      tooOld: this.#notifier.tooOld,
      ...this.#courier.standing,
      ...this.#held.standing,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.#isFollowing && this.#runner.stop(), this.#held.stop()]);
    this.#postman[Symbol.dispose]();
  }

  /** Nothing is missed by beginning late: where it was is kept, and what was before every webhook is none of it. */
  #followOnceNeeded(failed: (error: unknown) => void): void {
    const { oldest } = this.#webhooks;
    if (oldest === undefined) return;
    clearInterval(this.#timer);
    this.#isFollowing = true;
    this.#runner.start(failed, oldest.since);
  }
}
