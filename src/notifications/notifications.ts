import { clientWebhooks } from '../../projections/client-webhooks.ts';
import type { Deliveries } from '../event-log/deliveries.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { Logger } from '../logger.ts';
import { LogParking } from '../reactors/parking.ts';
import { ReactorRunner, type RunnerStanding } from '../reactors/reactor-runner.ts';
import type { Projector } from '../read-models/projector.ts';
import { Iris } from '../sword/iris.ts';
import { Courier, type CourierStanding } from './courier.ts';
import { DepositDeliveries } from './deposit-deliveries.ts';
import { HeldDeliveries } from './held-deliveries.ts';
import { KeyWatch } from './key-watch.ts';
import type { NotificationSettings } from './notification-settings.ts';
import type { NotificationViews } from './notification-views.ts';
import { Notifier } from './notifier.ts';
import { Postman } from './postman.ts';
import { Webhooks } from './webhooks.ts';

export type NotificationOptions = {
  readonly log: EventLog;
  readonly deliveries: Deliveries;
  readonly projector: Projector;
  /** Kept by that projector. */
  readonly notified: NotificationViews;
  readonly logger: Logger;
  readonly baseUrl: string;
  readonly maker: { readonly name: string; readonly version: string };
  readonly config: { readonly webhooks: NotificationSettings; readonly refIdAliases: boolean };
  /** Resolves when the views of this node have caught up. */
  readonly ready: Promise<void>;
  /** Called if receiving events ends with an error. */
  readonly fail: (error: unknown) => void;
};

export type NotificationStanding = CourierStanding & {
  readonly notifier: RunnerStanding;
  /** Deposits with notifications that wait, on whatever node, and those that this one works on. */
  readonly waiting: number;
  readonly underWay: number;
  /** Events that were older than notifications are tried when their turn came: nobody was told of them. */
  readonly tooOld: number;
  /** Why secrets of webhooks cannot be opened, so that their clients are not notified. */
  readonly keyProblem: string | null;
};

/** Deposits that are told of at the same time; of one client its line takes fewer. */
const CONCURRENCY = 64;

/** Notifies clients of their deposits, from now until it is disposed of. */
export class Notifications implements AsyncDisposable {
  readonly #webhooks: Webhooks;
  readonly #postman: Postman;
  readonly #keyWatch: KeyWatch;
  readonly #courier: Courier;
  readonly #notifier: Notifier;
  readonly #held: HeldDeliveries;
  /** Runs the notifier. */
  readonly runner: ReactorRunner;
  readonly #trouble: () => string | undefined;

  constructor(options: NotificationOptions) {
    const { log, deliveries, projector, notified, logger, config, maker } = options;
    const { webhooks: settings, refIdAliases } = config;
    this.#webhooks = new Webhooks(log, projector.queriesOf(clientWebhooks.name), notified.webhooks);
    this.#postman = new Postman(settings, `${maker.name}/${maker.version}`);
    const language = { iris: new Iris(options.baseUrl), refIdAliases };
    const webhooks = () => this.#webhooks.all();
    this.#keyWatch = new KeyWatch({ keyFile: settings.keyFile, webhooks, logger });
    const onKeyProblem = () => void this.#keyWatch.look();
    this.#courier = new Courier({ ...settings, postman: this.#postman, language, onKeyProblem, logger });
    const parking = new LogParking(log);
    this.#notifier = new Notifier(log, parking, this.#webhooks, this.#courier, settings);
    this.runner = new ReactorRunner(this.#notifier, {
      deliveries,
      parking,
      logger,
      concurrency: CONCURRENCY,
    });
    this.#held = new HeldDeliveries({
      deliveries: new DepositDeliveries(log, this.#webhooks, this.#courier, settings),
      courier: this.#courier,
      webhooks: this.#webhooks,
      undelivered: notified.undelivered,
      projector,
      logger,
      giveUpAfter: settings.giveUpAfter,
    });
    this.#trouble = () => projector.trouble ?? deliveries.trouble(this.#notifier.name);
    this.#held.start();
    // Events from before the first webhook are sent to no client.
    this.runner.start(options.fail, async () => {
      await options.ready;
      return this.#webhooks.oldest?.since ?? projector.position;
    });
    options.ready.then(
      () => this.#keyWatch.start(),
      () => undefined, // the service ends
    );
  }

  get standing(): NotificationStanding {
    return {
      notifier: this.runner.standing,
      tooOld: this.#notifier.tooOld,
      keyProblem: this.#keyWatch.problem ?? null,
      ...this.#courier.standing,
      ...this.#held.standing,
    };
  }

  /**
   * Rejects with what keeps the notifier from its events. A secret that cannot be opened is no reason to send clients
   * to another node, and nobody's business who asks for readiness.
   */
  async assertFollows(): Promise<void> {
    const trouble = this.#trouble();
    if (trouble !== undefined) throw new Error(trouble);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#keyWatch[Symbol.dispose]();
    await Promise.all([this.runner.stop(), this.#held.stop()]);
    this.#postman[Symbol.dispose]();
  }
}
