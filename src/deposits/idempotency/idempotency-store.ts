import { hash } from 'node:crypto';
import {
  type EventLog,
  type NewEvent,
  type RecordedEvent,
  WrongExpectedRevision,
} from '../../event-log/event-log.ts';
import { sealAfter } from '../../event-log/integrity/hash-chain.ts';
import { OutageRetries } from '../../event-log/outage-retries.ts';
import { SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import { random } from '../../tools/random.ts';

/** A request with an idempotency key, recorded before it is executed. */
export type IdempotencyRecord = {
  /** Equal for every repetition, so that its events are appended once. */
  readonly commandId: string;
  readonly depositId: number;
  /** UUID of a deposit that the request creates. */
  readonly uuid: string;
  /** Id of the first of the repeated requests. */
  readonly requestId: string;
  /** SHA-256 of what was requested, by `requestFingerprints`. */
  readonly fingerprint: string;
};

/** The key of a request, and the earlier request with the same key, if any. */
export type IdempotencyKey = {
  readonly client: string;
  /** The key as the client wrote it. */
  readonly text: string;
  readonly earlier: IdempotencyRecord | undefined;
};

/** A request with an idempotency key that is about to be executed. */
export type KeyedRequest = Pick<IdempotencyRecord, 'requestId'> & {
  /** The fingerprint to record, then those of the same request in records of earlier releases. */
  readonly fingerprints: readonly [string, ...string[]];
  /** Allocates the id of its deposit, if the key was not used before. */
  readonly newId: () => Promise<number>;
  /** Returns headers that name the deposit of the earlier request, if that was another one. */
  readonly linksOf?: (earlier: IdempotencyRecord) => Promise<Readonly<Record<string, string>>>;
};

/**
 * Stores the requests with an Idempotency-Key permanently in the log, one stream each. A repeated request, concurrent
 * or after a crash, finds the record of the first one and executes only what is missing.
 */
export class IdempotencyStore {
  readonly #log: EventLog;

  constructor(log: EventLog) {
    this.#log = log;
  }

  async load(client: string, text: string, since?: number): Promise<IdempotencyKey> {
    const stream = streamOf(client, text);
    const [begun] = await Array.fromAsync(this.#log.readStream(stream, { limit: 1, since }));
    return { client, text, earlier: begun && requestIn(stream, begun) };
  }

  /**
   * Records the request, or returns the earlier one.
   * @throws {SwordError} 409: the key was used for another request.
   * @throws {EventLogUnavailable} the log rejects the record, and no read shows another one within the time limit.
   */
  async begin(
    key: IdempotencyKey,
    { linksOf, ...request }: KeyedRequest,
    retries = new OutageRetries(),
  ): Promise<IdempotencyRecord> {
    const recorded = key.earlier ?? (await this.#record(key, request, retries));
    if (!request.fingerprints.includes(recorded.fingerprint)) throw keyReused(await linksOf?.(recorded));
    return recorded;
  }

  async #record(
    { client, text }: IdempotencyKey,
    { newId, requestId, fingerprints: [fingerprint] }: KeyedRequest,
    retries: OutageRetries,
  ): Promise<IdempotencyRecord> {
    const [stream, depositId, now] = [streamOf(client, text), await newId(), clock.date().toISOString()];
    // Nodes of earlier releases need `now`.
    const data = { depositId, requestId, fingerprint, client, uuid: random.uuid(), now };
    const metadata = { schemaVersion: 1, occurredAt: now, $correlationId: requestId };
    const event = { id: random.uuid(), type: 'RequestBegun', data, metadata };
    const [begun] = sealAfter(stream, 'none', null, [event]) as [NewEvent];
    const { since } = retries;
    while (true) {
      try {
        await this.#log.append(stream, 'none', [begun], { since });
        return requestIn(stream, begun);
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        const { earlier: first } = await this.load(client, text, since);
        if (first) return first;
        await retries.pauseUnexplained(stream);
      }
    }
  }
}

/** @throws {SwordError} 409: the key was used for another request. */
export function assertSameRequest(
  earlier: IdempotencyRecord | undefined,
  fingerprints: readonly string[],
): void {
  if (earlier !== undefined && !fingerprints.includes(earlier.fingerprint)) throw keyReused();
}

function keyReused(headers: Readonly<Record<string, string>> = {}): SwordError {
  const text = 'The Idempotency-Key was used before, for a request with another method, IRI or content.';
  const verboseDescription = 'Use a new key for every new request.';
  return new SwordError('Conflict', text, { verboseDescription, headers });
}

function streamOf(client: string, text: string): string {
  return `request-${hash('sha256', `${client}\0${text}`)}`;
}

function requestIn(stream: string, { data }: NewEvent | RecordedEvent): IdempotencyRecord {
  const { depositId, uuid, requestId, fingerprint } = data as Omit<IdempotencyRecord, 'commandId'>;
  return { commandId: stream, depositId, uuid, requestId, fingerprint };
}
