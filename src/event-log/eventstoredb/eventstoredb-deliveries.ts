import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Deliveries, Delivery, DeliveryStanding } from '../deliveries.ts';
import type { EventLog, Position } from '../event-log.ts';
import { pausing } from '../pausing.ts';
import { EventStoreDbAttempts } from './attempts.ts';
import { BackOff } from './back-off.ts';
import { EventStoreDbConnection } from './connection.ts';
import { ConsumerSession, type GroupMessage } from './consumer-session.ts';
import { factsOf, troubleOf } from './faults.ts';
import { EventStoreDbGroupStanding } from './group-standing.ts';
import { HandedOut } from './handed-out.ts';
import type { EventStoreDbOptions } from './settings.ts';

/** The client takes an acknowledgement before it sends it, and closing discards what was not sent. */
const FLUSH_TIME = 100;

export type EventStoreDbDeliveriesOptions = EventStoreDbOptions & {
  /** Events of a group that one node may hold and has not acknowledged. */
  readonly bufferSize?: number;
  /** How old an event may be and still be taken to come for the first time, in milliseconds. */
  readonly freshFor?: number;
  /** How long acknowledgements may still come when the receiver has stopped, in milliseconds. */
  readonly linger?: number;
};

/**
 * Deliveries that many nodes share: a persistent subscription for each group, on the leader. Events of one stream go
 * to one node as long as the nodes stay the same; when one comes or goes, order may break and events may come
 * again, which reactors bear because they look at the present of the stream first.
 */
export class EventStoreDbDeliveries implements Deliveries, AsyncDisposable {
  readonly #options: EventStoreDbDeliveriesOptions;
  readonly #attempts: EventStoreDbAttempts;
  readonly #receiving = new Set<Promise<void>>();
  readonly #troubles = new Map<string, string>();
  readonly #standing: EventStoreDbGroupStanding;

  /** How often work is begun is counted in `log`, which must be on the same server. */
  constructor(log: EventLog, options: EventStoreDbDeliveriesOptions) {
    this.#options = options;
    this.#attempts = new EventStoreDbAttempts(log, options.freshFor ?? 2000);
    this.#standing = new EventStoreDbGroupStanding(log, options);
  }

  trouble(group: string): string | undefined {
    return this.#troubles.get(group);
  }

  standing(group: string, streamPrefix: string): Promise<DeliveryStanding> {
    return this.#standing.of(group, streamPrefix);
  }

  async *receive(
    group: string,
    streamPrefix: string,
    signal: AbortSignal,
    after?: Position,
  ): AsyncGenerator<Delivery> {
    const connection = new EventStoreDbConnection(this.#options);
    const handedOut = new HandedOut();
    const backOff = new BackOff(this.#options);
    const connected = (): boolean => this.#troubles.delete(group);
    const settings = { ...this.#options, group, streamPrefix, connected, ...(after && { after }) };
    let session: ConsumerSession | undefined;
    try {
      while (!signal.aborted) {
        if (session) await changed(session, handedOut);
        session = new ConsumerSession(connection, settings);
        try {
          for await (const messages of session.messages(signal)) {
            yield* this.#deliveriesOf(group, messages, session, handedOut, signal);
            if (messages.length > 0) backOff.reset();
            // Does nothing come because there is nothing? Asking anew costs less than finding out.
            else if (handedOut.isEmpty) break;
          }
          if (!signal.aborted) connection.drop(session.client);
        } catch (error) {
          if (error instanceof TypeError) throw error;
          if (signal.aborted) break;
          this.#troubles.set(group, troubleOf(`The subscription of ${group}`, error));
          // Whatever it was passes. A client that found the leader is kept.
          if (factsOf(error).type !== 'not-leader') connection.drop(session.client);
          await pausing(backOff.next(), signal);
        }
      }
    } finally {
      this.#closeLater(connection, handedOut, session);
    }
  }

  /** Resolves when every connection is closed; receivers are to be stopped before. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#receiving, this.#standing[Symbol.asyncDispose]()]);
  }

  *#deliveriesOf(
    group: string,
    messages: readonly GroupMessage[],
    session: ConsumerSession,
    handedOut: HandedOut,
    signal: AbortSignal,
  ): Generator<Delivery> {
    const fresh = messages.filter((message) => handedOut.isNew(message, session));
    for (const message of fresh) {
      if (signal.aborted) return;
      const attempt = randomUUID();
      yield {
        event: message.event,
        begin: (how) => this.#attempts.next(group, message, { id: attempt, isAlone: how === 'alone' }),
        acknowledge: handedOut.add(message, session),
        handBack: () => this.#attempts.takeBack(group, message, attempt),
      };
    }
  }

  /** Work under way may still be acknowledged; cut off, it is handed out again. */
  #closeLater(connection: EventStoreDbConnection, handedOut: HandedOut, session?: ConsumerSession): void {
    const closing = handedOut
      .settled(this.#options.linger ?? 3000)
      .then(() => setTimeout(FLUSH_TIME))
      .then(() => session?.[Symbol.asyncDispose]())
      .then(() => connection[Symbol.asyncDispose]())
      .finally(() => this.#receiving.delete(closing));
    this.#receiving.add(closing);
  }
}

async function changed(session: ConsumerSession, handedOut: HandedOut): Promise<void> {
  await session[Symbol.asyncDispose]();
  handedOut.forgetUnlessFrom(session);
}
