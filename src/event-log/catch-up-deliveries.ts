import { CatchUpCheckpoint, savedPosition } from './catch-up-checkpoint.ts';
import type { Deliveries, Delivery, DeliveryStanding } from './deliveries.ts';
import type { EventLog, Position } from './event-log.ts';
import { COUNTED_AT_MOST, waitingAfter } from './waiting-events.ts';

/**
 * Deliveries of one process: a subscription from a checkpoint. The checkpoint is the position before the
 * oldest event not yet acknowledged, saved at most once a second; a lost or old one only makes events come again.
 */
export class CatchUpDeliveries implements Deliveries {
  readonly #log: EventLog;
  readonly #folder: string;
  readonly #receiving = new Map<string, CatchUpCheckpoint>();

  /** Checkpoints are kept in `folder`, a file a group. */
  constructor(log: EventLog, folder: string) {
    this.#log = log;
    this.#folder = folder;
  }

  /** The embedded log is either there or the service is not. */
  trouble(): undefined {
    return undefined;
  }

  /** Exact where the group is received; beside it as of the last save, with what was done out of order counted in. */
  async standing(group: string, streamPrefix: string): Promise<DeliveryStanding> {
    const checkpoint = this.#receiving.get(group);
    if (!checkpoint) {
      const position = await savedPosition(this.#folder, group, await this.#log.head());
      const { count, oldest } = await waitingAfter(this.#log, position, streamPrefix);
      return { position, waiting: count, oldest };
    }
    const later = await waitingAfter(this.#log, checkpoint.last, streamPrefix);
    const { position, underWay } = checkpoint;
    const waiting = Math.min(underWay.count + later.count, COUNTED_AT_MOST);
    return { position, waiting, oldest: underWay.oldest ?? later.oldest };
  }

  async *receive(
    group: string,
    streamPrefix: string,
    signal: AbortSignal,
    begin?: Position,
  ): AsyncGenerator<Delivery> {
    await using checkpoint = await CatchUpCheckpoint.open(this.#folder, group, await this.#log.head());
    this.#receiving.set(group, checkpoint);
    try {
      const options = { after: checkpoint.position ?? begin, streamPrefixes: [streamPrefix], signal };
      for await (const message of this.#log.subscribe(options)) {
        if (message.kind === 'caught-up') checkpoint.passed(message.position);
        else {
          for (const event of message.events) {
            const done = checkpoint.begin(event);
            yield { event, count: 1, acknowledge: async () => done() };
          }
        }
      }
    } finally {
      this.#receiving.delete(group);
    }
  }
}
