import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../../src/config/read-config.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { WebhookReceiver } from '../../testing/service/webhook-receiver.ts';
import { AnsweredDeposits, lostOf, newTar } from '../clients/answered-deposits.ts';
import { notificationsReceived, statusEvents } from '../clients/notifications-received.ts';
import { registerNotified } from '../clients/notified-client.ts';
import { openDeposits, scratchFolder, unsettled } from '../service/drilled-service.ts';
import { everythingVerified } from '../service/everything-verified.ts';
import { type NodeRole, ServiceCluster } from '../service/service-cluster.ts';
import { EngineProcesses } from './engine-processes.ts';

export type OutageSiteOptions = {
  /** Part of the name of its folder. */
  readonly name: string;
  /** Arguments of the double; `--file` is added. */
  readonly logArgs?: readonly string[];
  /** The program of a real MinIO that is used as the store. */
  readonly minio?: string | undefined;
  readonly roles?: readonly NodeRole[];
  /** Settings of nodes, besides those of engines and webhooks. */
  readonly more?: Readonly<Record<string, string>>;
  readonly main?: string | undefined;
  /** Time limit for deposits to be settled and notifications to arrive, in milliseconds. */
  readonly timeLimit?: number;
};

/** Whether everything that clients were promised holds. */
export type OutageOutcome = {
  readonly broken: readonly string[];
  readonly numbers: Readonly<Record<string, number>>;
};

/** Milliseconds without a notification: one waits for 12 s after an earlier one that another node may be sending. */
const QUIET_MS = 20_000;
const TIME_LIMIT_MS = 90_000;
/** Time limit of one request, in milliseconds: longer than the service takes to answer 503. */
const REQUEST_MS = 60_000;

/** Nodes on a log whose faults a drill chooses, under load, with a receiver of notifications. */
export class OutageSite implements AsyncDisposable {
  readonly engines: EngineProcesses;
  readonly cluster: ServiceCluster;
  /** Settings of nodes. */
  readonly settings: Readonly<Record<string, string>>;
  readonly #parts: Parts;
  readonly #deposits: AnsweredDeposits[] = [];
  /** The nodes that receive new deposits. */
  #serving: readonly AnsweredDeposits[] = [];
  #isOver = false;
  /** Times at which deposits were answered 201. */
  readonly #successes: number[] = [];

  static async start(options: OutageSiteOptions): Promise<OutageSite> {
    await using opened = new AsyncDisposableStack();
    const folder = opened.use(await scratchFolder(options.name)).path;
    const logArgs = ['--file', path.join(folder, 'log.sqlite'), ...(options.logArgs ?? [])];
    const engines = opened.use(await EngineProcesses.start({ logArgs, minio: options.minio }));
    const receiver = opened.use(await WebhookReceiver.start());
    const settings = {
      ...engines.settings,
      ...options.more,
      DEPOSIT_WEBHOOK_ALLOW_PRIVATE: 'true',
      DEPOSIT_WEBHOOK_KEY_FILE: path.join(folder, 'webhook.key'),
    };
    await registerNotified(settings, receiver);
    const cluster = opened.use(await ServiceCluster.start(settings, options));
    const { timeLimit = TIME_LIMIT_MS } = options;
    return new OutageSite({ engines, cluster, settings, receiver, timeLimit, opened: opened.move() });
  }

  private constructor(parts: Parts) {
    this.engines = parts.engines;
    this.cluster = parts.cluster;
    this.settings = parts.settings;
    this.#parts = parts;
    this.serve(this.cluster.urls);
  }

  /** The number of deposits that were answered 201. */
  get acknowledged(): number {
    return this.#deposits.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
  }

  /** Milliseconds until each answer 503. */
  get refusedAfter(): readonly number[] {
    return this.#deposits.flatMap(({ refusedAfter }) => refusedAfter);
  }

  /** The number of notifications that came again. */
  get repeated(): number {
    const { taken } = this.#parts.receiver;
    return taken.length - new Set(taken.map(({ id }) => id)).size;
  }

  /** Sends deposits to these nodes from now on, as a load balancer does. */
  serve(urls: readonly string[]): void {
    this.#serving = urls.map((url) => new AnsweredDeposits(url, [503]));
    this.#deposits.push(...this.#serving);
  }

  /** Makes a complete deposit at one node after the other. Resolves to the status of the answer. */
  async deposit(turn: number, archive = newTar(turn % 5 === 0 ? 200_000 : 2_000)): Promise<number> {
    const deposits = this.#serving[turn % this.#serving.length] as AnsweredDeposits;
    const { status } = await deposits.deposit(archive, { isComplete: true, timeLimit: REQUEST_MS });
    if (status === 201) this.#successes.push(performance.now());
    return status;
  }

  /** Has this number of writers deposit until the site is judged. */
  load(writers: number): Promise<void> {
    const write = async (writer: number): Promise<void> => {
      for (let turn = writer; !this.#isOver; turn += 1) {
        const status = await this.deposit(turn);
        await pause(status === 201 ? 150 : 250); // others use the machine, too
      }
    };
    return Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).then(() => undefined);
  }

  /** Ends the load. */
  stopLoad(): void {
    this.#isOver = true;
  }

  /** Resolves to the milliseconds from a moment to the first 201 after it, or to those that it waited in vain. */
  async firstSuccessAfter(moment: number): Promise<number> {
    const { timeLimit } = this.#parts;
    for (;;) {
      const first = this.#successes.find((success) => success >= moment);
      if (first !== undefined) return first - moment;
      if (performance.now() - moment > timeLimit) return timeLimit;
      await pause(10);
    }
  }

  /** Resolves to the deposits that have not come to their end in time. */
  async unsettled(): Promise<readonly string[]> {
    const { settings, timeLimit } = this.#parts;
    return unsettled(this.cluster.dataDir, timeLimit, settings);
  }

  /** Resolves to the deposits that have not come to their end now. */
  open(): Promise<readonly string[]> {
    return openDeposits(this.#parts.settings);
  }

  /**
   * Waits for the end of everything, stops the nodes and looks at what the log, the store and the receiver have.
   * `mayDisorder`: notifications out of order are counted only.
   */
  async outcome({ mayDisorder = false } = {}): Promise<OutageOutcome> {
    const { settings, receiver } = this.#parts;
    const { dataDir } = this.cluster;
    const stuck = await this.unsettled();
    const notified = await this.#notified();
    const ended = this.cluster.ended;
    const lost = (
      await Promise.all(this.#deposits.map((deposits) => lostOf(deposits, dataDir, settings)))
    ).flat();
    const badlyEnded = ended.length > 0 ? [] : await this.cluster.stop();
    const unproven = stuck.length > 0 ? [] : await everythingVerified(dataDir, settings);
    const refused = this.#deposits.reduce((sum, { counts }) => sum + (counts.get(503) ?? 0), 0);
    return {
      broken: [
        ...ended,
        ...this.#deposits.flatMap(({ faults }) => faults),
        ...lost,
        ...some(stuck.length, `deposits did not come to their end: ${stuck.slice(0, 5).join(', ')}`),
        ...some(notified.lost, `of ${notified.wanted} notifications never came`),
        ...(mayDisorder ? [] : notified.disordered),
        ...some(notified.unknown, 'notifications were about no status event'),
        ...some(notified.unsigned, 'notifications were not signed'),
        ...badlyEnded,
        ...unproven,
      ],
      numbers: {
        acknowledged: this.acknowledged,
        'answers 503': refused,
        lost: lost.length,
        stuck: stuck.length,
        notified: receiver.taken.length - notified.repeated,
        'notifications lost': notified.lost,
        'deposits notified out of order': notified.disordered.length,
        'notifications repeated': notified.repeated,
      },
    };
  }

  /** Waits until every notification has come, or none has for a while. */
  async #notified(): Promise<ReturnType<typeof notificationsReceived>> {
    const { settings, receiver, timeLimit } = this.#parts;
    await using log = await openLog(readConfig(settings), { readOnly: true });
    let fewest = Number.POSITIVE_INFINITY;
    let deadline = 0;
    for (;;) {
      const found = notificationsReceived(await statusEvents(log), receiver);
      if (found.lost < fewest) deadline = performance.now() + Math.max(timeLimit / 3, QUIET_MS);
      fewest = Math.min(fewest, found.lost);
      if (found.lost === 0 || performance.now() > deadline) return found;
      await pause(200);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#parts.opened.disposeAsync();
  }
}

type Parts = {
  readonly engines: EngineProcesses;
  readonly cluster: ServiceCluster;
  readonly settings: Readonly<Record<string, string>>;
  readonly receiver: WebhookReceiver;
  readonly timeLimit: number;
  readonly opened: AsyncDisposableStack;
};

function some(count: number, what: string): string[] {
  return count > 0 ? [`${count} ${what}.`] : [];
}
