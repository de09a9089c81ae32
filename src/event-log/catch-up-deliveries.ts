import { setTimeout as sleep } from 'node:timers/promises';
import { CatchUpCheckpoint, savedPosition } from './catch-up-checkpoint.ts';
import { Deaths } from './deaths.ts';
import { type Deliveries, type Delivery, type DeliveryStanding, PATIENCE_ALONE } from './deliveries.ts';
import type { EventLog, Position, RecordedEvent } from './event-log.ts';
import { COUNTED_AT_MOST, waitingAfter } from './waiting-events.ts';

/**
 * Deliveries of one process: a subscription from a checkpoint. The checkpoint is the position before the
 * oldest event not yet acknowledged, saved at most once a second; a lost or old one only makes events come again.
 * After a second death in a row what was under way comes one at a time, and is counted before it is begun.
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
    const head = await this.#log.head();
    await using checkpoint = await CatchUpCheckpoint.open(this.#folder, group, head);
    await using deaths = await Deaths.open(this.#folder, group, { position: checkpoint.position, head });
    this.#receiving.set(group, checkpoint);
    try {
      const options = { after: checkpoint.position ?? begin, streamPrefixes: [streamPrefix], signal };
      for await (const message of this.#log.subscribe(options)) {
        if (message.kind === 'caught-up') {
          checkpoint.passed(message.position);
          deaths.passed(checkpoint.position);
        } else {
          for (const event of message.events) {
            if (signal.aborted) return;
            if (deaths.isSuspect(event.position)) yield* alone(event, checkpoint, deaths, signal);
            else yield besideOthers(event, checkpoint, deaths);
          }
        }
      }
    } finally {
      this.#receiving.delete(group);
    }
  }
}

function besideOthers(event: RecordedEvent, checkpoint: CatchUpCheckpoint, deaths: Deaths): Delivery {
  const done = checkpoint.begin(event);
  const acknowledge = async (): Promise<void> => {
    done();
    deaths.passed(checkpoint.position);
  };
  return { event, begin: async () => 1, acknowledge };
}

/** Ends only when the event is acknowledged: should the process die, it was this one that was under way. */
async function* alone(
  event: RecordedEvent,
  checkpoint: CatchUpCheckpoint,
  deaths: Deaths,
  signal: AbortSignal,
): AsyncGenerator<Delivery, undefined> {
  const done = checkpoint.begin(event);
  const acknowledged = new AbortController();
  const acknowledge = async (): Promise<void> => {
    done();
    await checkpoint.save();
    await deaths.outlived(event.position);
    deaths.passed(checkpoint.position);
    acknowledged.abort();
  };
  yield { event, begin: () => deaths.count(event.position), acknowledge };
  const over = AbortSignal.any([signal, acknowledged.signal]);
  await sleep(PATIENCE_ALONE, undefined, { signal: over, ref: false }).catch(() => undefined);
}
