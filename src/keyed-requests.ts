import { createHash } from 'node:crypto';
import {
  type EventLog,
  type NewEvent,
  type RecordedEvent,
  WrongExpectedRevision,
} from './event-log/event-log.ts';
import { sealAfter } from './event-log/hash-chain.ts';
import { OutageRetries } from './outage-retries.ts';
import { clock } from './tools/clock.ts';
import { random } from './tools/random.ts';

/** What a request was to do that its client has given a key, decided before it is done. */
export type KeyedRequest = {
  /** The same for every repetition: events appended under it are appended once. */
  readonly commandId: string;
  readonly depositId: number;
  /** Of a deposit that the request creates. */
  readonly uuid: string;
  /** RFC 3339. */
  readonly now: string;
  /** Of the first of its repetitions. */
  readonly requestId: string;
  /** SHA-256 over what was asked for. */
  readonly fingerprint: string;
};

/**
 * Remembers, in the log and so for ever, what the requests with an Idempotency-Key were to do: a stream each. A
 * request that is repeated, at the same time or after a crash, finds what the first one was to do and does only
 * what is left of it.
 */
export class KeyedRequests {
  readonly #log: EventLog;

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** What the client has asked for under this key before. */
  async find(client: string, key: string, since?: number): Promise<KeyedRequest | undefined> {
    const stream = streamOf(client, key);
    const [begun] = await Array.fromAsync(this.#log.readStream(stream, { limit: 1, since }));
    return begun && requestIn(stream, begun);
  }

  /**
   * Records the request, or finds the one that was first.
   * @throws {EventLogUnavailable} the log rejects the record, and no read shows another one within the time limit.
   */
  async begin(
    client: string,
    key: string,
    request: Pick<KeyedRequest, 'depositId' | 'requestId' | 'fingerprint'>,
    retries = new OutageRetries(),
  ): Promise<KeyedRequest> {
    const [stream, now] = [streamOf(client, key), clock.date().toISOString()];
    const data = { ...request, client, uuid: random.uuid(), now };
    const metadata = { schemaVersion: 1, occurredAt: now, $correlationId: request.requestId };
    const event = { id: random.uuid(), type: 'RequestBegun', data, metadata };
    const [begun] = sealAfter(stream, 'none', null, [event]) as [NewEvent];
    const { since } = retries;
    while (true) {
      try {
        await this.#log.append(stream, 'none', [begun], { since });
        return requestIn(stream, begun);
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        const first = await this.find(client, key, since);
        if (first) return first;
        await retries.pause(`The append to ${stream} was rejected, and no read shows another event`);
      }
    }
  }
}

function streamOf(client: string, key: string): string {
  return `request-${createHash('sha256').update(`${client}\0${key}`).digest('hex')}`;
}

function requestIn(stream: string, { data }: NewEvent | RecordedEvent): KeyedRequest {
  const { depositId, uuid, now, requestId, fingerprint } = data as Omit<KeyedRequest, 'commandId'>;
  return { commandId: stream, depositId, uuid, now, requestId, fingerprint };
}
