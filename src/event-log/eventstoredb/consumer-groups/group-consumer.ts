import type { PersistentSubscriptionToAllInfo } from '@eventstore/db-client';
import { clock } from '../../../tools/clock.ts';
import { RepeatedFaults } from '../../../tools/repeated-faults.ts';
import type { GroupStart } from '../../consumer-groups/deliveries.ts';
import type { Position } from '../../event-log.ts';
import { InvalidPosition } from '../../position.ts';
import { EventStoreDbConnection } from '../connection.ts';
import { factsOf, unlessDenied } from '../errors.ts';
import { EventStoreDbPages } from '../pages.ts';
import type { EventStoreDbOptions } from '../settings.ts';
import { ConsumerSession, type ConsumerSettings, type GroupMessage } from './consumer-session.ts';
import { GROUP, groupInfo, makeGroup, otherSettings } from './group.ts';
import { InFlight } from './in-flight.ts';

/** The client accepts an acknowledgement before it sends it, and closing discards unsent ones. */
const FLUSH_TIME_MS = 100;
const LINGER_MS = 3000;
/** Milliseconds after which the same fault is reported again. */
const REPORT_AGAIN_AFTER_MS = 60_000;

export type GroupConsumerOptions = EventStoreDbOptions &
  ConsumerSettings & {
    /** Groups of older releases: a new group starts at the lowest of their positions. */
    readonly retiredGroups?: readonly string[];
    /** Called once if the group exists and has other settings than this release gives it. */
    readonly onOtherSettings?: (group: string, differences: readonly string[]) => void;
    /** Called with the reason why no events arrive, once a minute for each. */
    readonly onFault?: (reason: string) => void;
    /** Milliseconds for which acknowledgements may still arrive after the consumer has stopped. */
    readonly linger?: number;
  };

/** The consumer of this node: reconnects to the group after every fault, until it is stopped. */
export class GroupConsumer {
  readonly #options: GroupConsumerOptions;
  readonly #connection: EventStoreDbConnection;
  readonly #pages: EventStoreDbPages;
  readonly #inFlight = new InFlight();
  #session: ConsumerSession | undefined;
  #fault: string | undefined;
  /** By reason: during an outage two of them may alternate. */
  readonly #reported = new RepeatedFaults<string>(REPORT_AGAIN_AFTER_MS);
  #isCompared = false;
  /** The end of the log before this node connected for the first time; empty for an empty log. */
  #endBefore: Position | undefined;

  constructor(options: GroupConsumerOptions) {
    this.#options = options;
    this.#connection = new EventStoreDbConnection(options);
    this.#pages = new EventStoreDbPages(this.#connection).tryingOnce;
  }

  /** The reason why no events arrive at the moment; `undefined` while it is connected. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Yields batches of delivered events until `signal` aborts. A group that is created begins at `start`. */
  async *messages(start: GroupStart, signal: AbortSignal): AsyncGenerator<readonly GroupMessage[]> {
    const backoff = this.#connection.backgroundBackoff();
    const connected = (): void => {
      this.#fault = undefined;
    };
    while (!signal.aborted) {
      let session: ConsumerSession | undefined;
      try {
        this.#endBefore ??= (await this.#pages.lastEvent(signal))?.position ?? '';
        session = await this.#nextSession();
        await makeGroup(
          this.#connection,
          {
            retiredGroups: this.#options.retiredGroups ?? [],
            start,
            onFound: (info) => this.#compareSettings(info),
          },
          signal,
        );
        for await (const messages of session.messages(signal, connected)) {
          backoff.reset(); // at the latest after a time of silence
          if (messages.length > 0) yield messages;
          else if (!(await this.#isServed(session, signal))) break;
        }
        if (!signal.aborted) this.#connection.drop(session.client);
      } catch (error) {
        if (error instanceof InvalidPosition) throw error;
        if (signal.aborted) return;
        // A client that found the leader can be used for the next session. Without a session no client was made.
        if (session && factsOf(error).type !== 'not-leader') this.#connection.drop(session.client);
        this.#fault = await this.#connection.lastErrorOf('The subscription of the reactors', error, signal);
        if (signal.aborted) return;
        if (this.#reported.isNews(this.#fault, this.#fault)) this.#options.onFault?.(this.#fault);
        await this.#connection.pauseBackground(backoff, signal);
      }
    }
  }

  /**
   * Registers work of `parts` receivers on a message. Returns a function that each of them calls when done. Returns
   * `undefined` when this copy needs no work, since there are no such receivers or another copy is in work here.
   */
  take(message: GroupMessage, parts: number): (() => Promise<void>) | undefined {
    return this.#session && this.#inFlight.take(message, this.#session, parts);
  }

  /**
   * Whether work on an event may have begun before, here or on another node: it was delivered again, or recorded before
   * this node connected for the first time. The server's count also rises with each lost connection.
   */
  mayHaveBegun({ event, copy }: GroupMessage): boolean {
    return copy.retryCount > 0 || this.#endBefore === undefined || event.position <= this.#endBefore;
  }

  /** Closes the connection when the work in flight has been acknowledged or its time limit ends. */
  async close(): Promise<void> {
    await this.#inFlight.settled(this.#options.linger ?? LINGER_MS);
    await clock.sleep(FLUSH_TIME_MS);
    await this.#session?.[Symbol.asyncDispose]();
    await this.#connection[Symbol.asyncDispose]();
  }

  #compareSettings(info: PersistentSubscriptionToAllInfo): void {
    if (this.#isCompared) return;
    this.#isCompared = true;
    const differences = otherSettings(info);
    if (differences.length > 0) this.#options.onOtherSettings?.(GROUP, differences);
  }

  async #nextSession(): Promise<ConsumerSession> {
    if (this.#session) {
      await this.#session[Symbol.asyncDispose]();
      this.#inFlight.forgetUnlessFrom(this.#session);
    }
    this.#session = new ConsumerSession(this.#connection, this.#options);
    return this.#session;
  }

  /** Whether the server still serves this connection, as the server reports it. Silence alone is no fault. */
  async #isServed(session: ConsumerSession, signal: AbortSignal): Promise<boolean> {
    const info = await groupInfo(this.#connection, GROUP, signal).catch(unlessDenied);
    if (info === 'denied') return this.#inFlight.size > 0;
    const own = info?.connections.find(
      ({ connectionName }) => connectionName === session.client.driver.connectionName,
    );
    // Events that the server sent but that never arrived occupy slots that this node cannot free.
    return own !== undefined && session.bufferSize - own.availableSlots <= this.#inFlight.size;
  }
}
