import type { EventLog, RecordedEvent } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import type { Logger } from '../../tools/logger.ts';
import { random } from '../../tools/random.ts';
import { RepeatedFaults } from '../../tools/repeated-faults.ts';
import type { Projector } from '../../views/projector.ts';
import { confirms } from './confirmations.ts';
import { appendNodeEvent, NODES, nodeOf } from './node-stream.ts';

/** Another running node has the name of this one, so that each would confirm to commands for the other. */
class NodeNameInUse extends errorsOfCode('NODE_NAME_IN_USE') {
  constructor(node: string) {
    super(
      `Another node called ${node} runs on this event log. Give each node a host name or a DEPOSIT_DATA_DIR of its own.`,
    );
  }
}

type PresenceOptions = {
  readonly log: Pick<EventLog, 'append' | 'readStream' | 'subscribe'>;
  /** The views of the node, before they are started. */
  readonly projector: Pick<Projector, 'follow' | 'listen'>;
  readonly logger: Logger;
  /** Name of the node, by which operators know it. */
  readonly node: string;
  /** Called if another node with this name starts later, or is found later. */
  readonly fail: (error: unknown) => void;
};

/** How long a node that starts waits for a confirmation of another one with its name, which may have been killed. */
const NAMESAKE_TIMEOUT_MS = 2000;
/** Time limits of the registration at a start and at a stop: neither waits longer for a log that accepts no appends. */
const [START_TIMEOUT_MS, STOP_TIMEOUT_MS] = [NAMESAKE_TIMEOUT_MS + 2000, 1000];
const RETRY_DELAY_MS = 1000;
/** Milliseconds after which the same fault is logged again. */
const LOG_AGAIN_AFTER_MS = 60_000;

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
  /** Whether another node has started under the name of this one since. */
  #isReplaced = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /**
   * Registers the node; must be called before it serves clients, so that none of them uses a node that commands do not
   * know. If the log accepts no append in time, it is registered later.
   * @throws {NodeNameInUse}
   */
  async start(): Promise<void> {
    const { projector, fail } = this.#options;
    projector.follow(NODES);
    this.#stopListening = projector.listen((events) => this.#see(events));
    const registered = this.#register();
    registered.catch(fail);
    await withTimeout(registered, START_TIMEOUT_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#stopListening();
    const { log, node } = this.#options;
    const stopped = async (): Promise<void> => {
      await this.#answering; // so that the last event of the node says that it has stopped
      const isOwnName = this.#ownStarts.size > 0 && !this.#isReplaced;
      if (isOwnName) await appendNodeEvent(log, { type: 'NodeStopped', data: { node } });
    };
    await withTimeout(stopped(), STOP_TIMEOUT_MS).catch(() => undefined);
  }

  async #register(): Promise<void> {
    const { log, node, logger } = this.#options;
    const faults = new RepeatedFaults<string>(LOG_AGAIN_AFTER_MS);
    while (!this.#stop.signal.aborted) {
      try {
        // An append that failed may have registered this node: then it confirms itself.
        const isFirst = this.#ownStarts.size === 0;
        if (isFirst && (await confirms(log, node, NAMESAKE_TIMEOUT_MS))) throw new NodeNameInUse(node);
        this.#stop.signal.throwIfAborted();
        const id = random.uuid();
        this.#ownStarts.add(id);
        const { revision } = await appendNodeEvent(log, { id, type: 'NodeStarted', data: { node } });
        this.#startedAt = revision;
        return;
      } catch (err) {
        if (err instanceof NodeNameInUse) throw err;
        if (this.#stop.signal.aborted) return;
        if (faults.isNews(node, String(err))) logger.warn({ err }, 'node registration failed');
        await clock.sleep(RETRY_DELAY_MS, this.#stop.signal).catch(() => undefined);
      }
    }
  }

  #see(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      const { stream, type, id, revision } = event;
      if (stream !== NODES) continue;
      const isOwnStart = this.#ownStarts.has(id);
      const isLater = revision > this.#startedAt;
      if (type === 'NodeStarted' && isLater && !isOwnStart) this.#seeStartOf(nodeOf(event));
      this.#isRegistered ||= isOwnStart || isLater;
      if (this.#isRegistered && type === 'ConfirmationAsked') this.#reached = revision;
    }
    if (this.#reached > this.#answered) this.#answering ??= this.#answer();
  }

  #seeStartOf(other: string): void {
    const { node, fail } = this.#options;
    if (other !== node) return;
    this.#isReplaced = true;
    fail(new NodeNameInUse(node));
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
