import { once } from 'node:events';
import { files } from '../tools/files.ts';
import { CatchUpCheckpoint } from './catch-up-checkpoint.ts';
import { Deaths } from './deaths.ts';
import type { Deliveries, Delivery, DeliveryStanding, GroupStart } from './deliveries.ts';
import type { EventLog, Position, RecordedEvent } from './event-log.ts';
import { COUNTED_AT_MOST, waitingAfter } from './waiting-events.ts';

/**
 * Deliveries of one process: a subscription from a checkpoint, which tells what is not acknowledged yet. It is saved at
 * most once a second, and when the receiver has stopped; a lost or old one only makes events come again.
 * After a second death in a row what may have been under way is to be begun alone, and is counted before.
 */
export class CatchUpDeliveries implements Deliveries {
  readonly #log: EventLog;
  readonly #folder: string;
  readonly #receiving = new Map<
    string,
    { readonly checkpoint: CatchUpCheckpoint; readonly deaths: Deaths }
  >();
  readonly #troubles = new Map<string, string | undefined>();

  /** Checkpoints are kept in `folder`, a file a group. */
  constructor(log: EventLog, folder: string) {
    this.#log = log;
    this.#folder = folder;
  }

  trouble(group: string): string | undefined {
    return this.#troubles.get(group);
  }

  again(group: string, event: RecordedEvent): Delivery {
    const deaths = this.#receiving.get(group)?.deaths;
    return {
      event,
      begin: async (how) => (deaths ? deaths.begin(event.position, how) : 1),
      acknowledge: async () => deaths?.outlived(event.position),
    };
  }

  /** Exact where the group is received; beside it as of the last save. */
  async standing(group: string, streamPrefix: string): Promise<DeliveryStanding> {
    const checkpoint = this.#receiving.get(group)?.checkpoint ?? (await this.#checkpoint(group));
    const later = await waitingAfter(this.#log, checkpoint.last, streamPrefix);
    const { position, underWay } = checkpoint;
    const waiting = Math.min(underWay.count + later.count, COUNTED_AT_MOST);
    return { position, waiting, oldest: underWay.oldest ?? later.oldest };
  }

  async *receive(
    group: string,
    streamPrefix: string,
    signal: AbortSignal,
    start?: GroupStart,
  ): AsyncGenerator<Delivery> {
    const head = await this.#log.head();
    await files.mkdir(this.#folder, { recursive: true });
    await using checkpoint = await CatchUpCheckpoint.open(this.#folder, group, this.#log);
    checkpoint.resumeBehindSeen();
    if (checkpoint.last === undefined && start) {
      const begin = await Promise.race([start(), once(signal, 'abort')]);
      if (signal.aborted) return;
      checkpoint.passed(begin as Position | undefined); // the group begins there, also the next time
    }
    await checkpoint.save(); // what another log left must not count once this one has grown beyond it
    await using deaths = await Deaths.open(this.#folder, group, { position: checkpoint.position, head });
    this.#receiving.set(group, { checkpoint, deaths });
    try {
      const onTrouble = (reason: string | undefined): void => {
        this.#troubles.set(group, reason);
      };
      const options = { after: checkpoint.position, streamPrefixes: [streamPrefix], signal, onTrouble };
      for await (const message of this.#log.subscribe(options)) {
        if (message.kind === 'caught-up') {
          checkpoint.passed(message.position);
          deaths.passed(checkpoint.position);
        } else {
          for (const event of message.events) {
            if (signal.aborted) return;
            if (!checkpoint.isDone(event)) yield handedOut(event, checkpoint, deaths, signal);
          }
        }
      }
    } finally {
      this.#receiving.delete(group);
    }
  }

  async #checkpoint(group: string): Promise<CatchUpCheckpoint> {
    return CatchUpCheckpoint.open(this.#folder, group, this.#log);
  }
}

function handedOut(
  event: RecordedEvent,
  checkpoint: CatchUpCheckpoint,
  deaths: Deaths,
  signal: AbortSignal,
): Delivery {
  const { position } = event;
  const done = checkpoint.begin(event);
  const acknowledge = async (): Promise<void> => {
    done();
    // Within a second the process may have ended, or died of what comes next.
    if (signal.aborted || deaths.isCounted(position)) await checkpoint.save();
    await deaths.outlived(position);
    deaths.passed(checkpoint.position);
  };
  return { event, begin: (how) => deaths.begin(position, how), acknowledge };
}
