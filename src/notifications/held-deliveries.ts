import type { UndeliveredNotifications } from '../../projections/undelivered-notifications.ts';
import { counted } from '../domain/description.ts';
import type { Position } from '../event-log/event-log.ts';
import { inTime } from '../in-time.ts';
import type { Logger } from '../logger.ts';
import type { Projector, View } from '../read-models/projector.ts';
import { clock } from '../tools/clock.ts';
import type { Courier } from './courier.ts';
import type { DepositDeliveries } from './deposit-deliveries.ts';
import { LONGEST_WAIT, type ReceiverLine } from './receiver-line.ts';
import type { Webhooks } from './webhooks.ts';

export type HeldDeliveriesOptions = {
  readonly deliveries: DepositDeliveries;
  readonly courier: Courier;
  readonly webhooks: Webhooks;
  /** Kept by the projector. */
  readonly undelivered: View<UndeliveredNotifications>;
  readonly projector: Pick<Projector, 'passed'>;
  readonly logger: Logger;
  /** Milliseconds after which a notification that waits is given up. */
  readonly giveUpAfter: number;
};

const LOOK_EVERY = 500;
const LONGEST_EXPIRY_PAUSE = 60_000;
const EXPIRED_AT_ONCE = 1000;
const MAX_AT_ONCE = 64;
const VIEW_PATIENCE = 2000;
/** For deliveries under way when the service stops, and for recording that they were cut off, in milliseconds. */
const [STOP_PATIENCE, LAST_STEPS] = [2000, 1000];
const NO_WEBHOOK = 'The client has no webhook any more.';

/**
 * Sees to what is held: of each deposit in order, of one client as many deposits at a time as its line takes, of
 * all clients side by side. What waits for too long is given up.
 */
export class HeldDeliveries {
  readonly #options: HeldDeliveriesOptions;
  readonly #stop = new AbortController();
  readonly #cut = new AbortController();
  readonly #underWay = new Map<number, Promise<void>>();
  #running: Promise<void> | undefined;
  #expiredAt = -Infinity;

  constructor(options: HeldDeliveriesOptions) {
    this.#options = options;
  }

  /** Deposits whose notifications wait, and those of them that are being delivered by this node. */
  get standing(): { readonly waiting: number; readonly underWay: number } {
    let waiting = 0;
    for (const [client, count] of this.#options.undelivered.counts()) if (client !== '') waiting += count;
    return { waiting, underWay: this.#underWay.size };
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    const ended = Promise.all(this.#underWay.values());
    await inTime(ended, STOP_PATIENCE);
    this.#cut.abort();
    await inTime(ended, LAST_STEPS);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#expire();
        for (const client of this.#waitingClients()) this.#fill(client);
      } catch (error) {
        this.#warn(error);
      }
      await clock.sleep(LOOK_EVERY, signal).catch(() => undefined);
    }
  }

  #waitingClients(): readonly string[] {
    return [...this.#options.undelivered.counts().keys()].filter((client) => client !== '');
  }

  /** Begins as many deliveries as the client's line has room for. */
  #fill(client: string): void {
    const { webhooks, courier, deliveries } = this.#options;
    const webhook = webhooks.now(client);
    if (!webhook) {
      for (const depositId of this.#due(client, MAX_AT_ONCE - this.#underWay.size))
        this.#begin(
          client,
          depositId,
          deliveries.giveUp(depositId, NO_WEBHOOK, () => true),
        );
      return;
    }
    const line = courier.lineTo(webhook);
    if (line.room === 0) this.#reopenIfWanted(client, line);
    for (const depositId of this.#due(client, Math.min(line.room, MAX_AT_ONCE - this.#underWay.size))) {
      line.take();
      const work = deliveries.deliver(depositId, webhook, line, this.#cut.signal);
      this.#begin(
        client,
        depositId,
        work.finally(() => line.leave()),
      );
    }
  }

  /** At most so many deposits of the client whose notifications may be tried now. */
  #due(client: string, room: number): readonly number[] {
    if (room <= 0) return [];
    const limit = room + this.#underWay.size;
    const waiting = { equal: { waitingFor: client }, orderBy: 'dueAt', limit } as const;
    const at = (wait: number) => ({ field: 'dueAt', value: new Date(clock.now() + wait).toISOString() });
    const due = [
      ...this.#options.undelivered.find({ ...waiting, upTo: at(0) }),
      ...this.#options.undelivered.find({ ...waiting, from: at(LONGEST_WAIT) }), // by a clock that was set back since
    ];
    const others = due.map(({ depositId }) => depositId).filter((id) => !this.#underWay.has(id));
    return others.slice(0, room);
  }

  #reopenIfWanted(client: string, line: ReceiverLine): void {
    const [last] = this.#options.undelivered.find({
      equal: { waitingFor: client },
      orderBy: 'requeuedAt',
      descending: true,
      limit: 1,
    });
    if (last?.requeuedAt) line.reopen(last.requeuedAt);
  }

  /** The deposit is not looked at again before the view shows what has come of it. */
  #begin(client: string, depositId: number, work: Promise<Position | undefined>): void {
    const seen = async (): Promise<void> => {
      const position = await work;
      if (position !== undefined) await this.#options.projector.passed(position, VIEW_PATIENCE);
      this.#underWay.delete(depositId);
      if (!this.#stop.signal.aborted) this.#fill(client);
    };
    const failed = (error: unknown): void => {
      this.#underWay.delete(depositId);
      this.#warn(error, { client, depositId });
    };
    this.#underWay.set(depositId, seen().catch(failed));
  }

  async #expire(): Promise<void> {
    const { undelivered, deliveries, giveUpAfter } = this.#options;
    if (clock.monotonic() - this.#expiredAt < Math.min(giveUpAfter / 10, LONGEST_EXPIRY_PAUSE)) return;
    this.#expiredAt = clock.monotonic();
    const limit = new Date(clock.now() - giveUpAfter).toISOString();
    const upTo = { field: 'heldSince', value: limit };
    for (const client of this.#waitingClients()) {
      const over = undelivered.find({ equal: { waitingFor: client }, upTo, limit: EXPIRED_AT_ONCE });
      for (const { depositId, reason } of over) {
        if (this.#underWay.has(depositId)) continue;
        const text = `Not taken within ${hours(giveUpAfter)}. ${reason}`;
        try {
          await deliveries.giveUp(depositId, text, ({ heldAt }) => heldAt <= limit);
        } catch (error) {
          return this.#warn(error, { client, depositId });
        }
      }
    }
  }

  #warn(err: unknown, about: { readonly client?: string; readonly depositId?: number } = {}): void {
    if (!this.#stop.signal.aborted)
      this.#options.logger.warn({ ...about, err }, 'held notifications not delivered');
  }
}

function hours(milliseconds: number): string {
  return counted(Math.round(milliseconds / 3_600_000), 'hour');
}
