import type { EventLog, RecordedEvent } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import type { Logger } from '../../tools/logger.ts';
import { random } from '../../tools/random.ts';
import type { Projector } from '../../views/projector.ts';
import { appendNodeEvent, NODES } from './node-stream.ts';

type PresenceOptions = {
  readonly log: Pick<EventLog, 'append' | 'readStream'>;
  /** The views of the node, before they are started. */
  readonly projector: Pick<Projector, 'follow' | 'listen'>;
  readonly logger: Logger;
  /** Name of the node, by which operators know it. */
  readonly node: string;
};

/** Time limits of the registration at a start and at a stop: neither waits longer for a log that accepts no appends. */
const [START_TIMEOUT_MS, STOP_TIMEOUT_MS] = [2000, 1000];
const RETRY_DELAY_MS = 1000;

/**
 * Registers a node of a shared log, and confirms to commands what its views have applied. A question is an event, so
 * views that have reached it have applied all that was appended before it.
 */
export class NodePresence implements AsyncDisposable {
  readonly #options: PresenceOptions;
  readonly #stop = new AbortController();
  /** Ids of the events that register this process: it answers the questions after one of them. */
  readonly #ownStarts = new Set<string>();
  /** Revision of the last of them that was acknowledged: views that begin after it never see it. */
  #startedAt = Infinity;
  #stopListening: () => void = () => undefined;
  /** Revision of the last question that the views have reached, and of the last that was answered. */
  #reached = -1;
  #answered = -1;
  #answering: Promise<void> | undefined;
  #isRegistered = false;

  /**
   * Registers the node; must be called before it serves clients, so that none of them uses a node that commands do not
   * know. If the log accepts no append in time, it is registered later.
   */
  static async start(options: PresenceOptions): Promise<NodePresence> {
    const presence = new NodePresence(options);
    options.projector.follow(NODES);
    presence.#stopListening = options.projector.listen((events) => presence.#see(events));
    await withTimeout(presence.#register(), START_TIMEOUT_MS).catch(() => undefined);
    return presence;
  }

  private constructor(options: PresenceOptions) {
    this.#options = options;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#stopListening();
    const { log, node } = this.#options;
    const stopped = async (): Promise<void> => {
      await this.#answering; // so that the last event of the node says that it has stopped
      await appendNodeEvent(log, { type: 'NodeStopped', data: { node } });
    };
    await withTimeout(stopped(), STOP_TIMEOUT_MS).catch(() => undefined);
  }

  async #register(): Promise<void> {
    const { log, node, logger } = this.#options;
    while (!this.#stop.signal.aborted) {
      try {
        const id = random.uuid();
        this.#ownStarts.add(id);
        const { revision } = await appendNodeEvent(log, { type: 'NodeStarted', data: { node } }, {}, id);
        this.#startedAt = revision;
        return;
      } catch (err) {
        logger.warn({ err }, 'node registration failed');
        await clock.sleep(RETRY_DELAY_MS, this.#stop.signal).catch(() => undefined);
      }
    }
  }

  #see(events: readonly RecordedEvent[]): void {
    for (const { stream, type, id, revision } of events) {
      if (stream !== NODES) continue;
      this.#isRegistered ||= this.#ownStarts.has(id) || revision > this.#startedAt;
      if (this.#isRegistered && type === 'ConfirmationAsked') this.#reached = revision;
    }
    if (this.#reached > this.#answered) this.#answering ??= this.#answer();
  }

  /** Confirms the last question that the views have reached, which answers those before it as well. */
  async #answer(): Promise<void> {
    const { log, node, logger } = this.#options;
    try {
      while (this.#reached > this.#answered && !this.#stop.signal.aborted) {
        const upTo = this.#reached;
        await appendNodeEvent(log, { type: 'NodeConfirmed', data: { node, upTo } });
        this.#answered = upTo;
      }
    } catch (err) {
      logger.warn({ err }, 'node confirmation failed');
    } finally {
      this.#answering = undefined;
    }
  }
}
