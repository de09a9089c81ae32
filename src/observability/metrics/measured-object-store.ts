import type { Readable } from 'node:stream';
import { ForwardingObjectStore } from '../../object-store/forwarding-object-store.ts';
import {
  ContentMismatch,
  type ExpectedContent,
  type LocalObject,
  ObjectError,
  type ObjectStore,
  ObjectStoreUnavailable,
  type StoredObject,
} from '../../object-store/object-store.ts';
import { clock } from '../../tools/clock.ts';
import { type Instruments, secondsSince } from './instruments.ts';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120];

const OPERATIONS = ['put', 'get', 'stat', 'check_out'] as const;
const FAULTS = [
  'ARCHIVE_STORE_UNAVAILABLE',
  'OBJECT_MISSING',
  'OBJECT_CORRUPT',
  'OBJECT_UNREADABLE',
] as const;
const BROKEN = ['MD5_MISMATCH', 'SHA256_MISMATCH', 'LENGTH_MISMATCH', 'TOO_LARGE'] as const;

type Operation = (typeof OPERATIONS)[number];

/** Counts and times the operations of the store. */
export class MeasuredObjectStore extends ForwardingObjectStore {
  readonly #durations;
  readonly #errors;
  readonly #brokenPromises;
  readonly #bytes;

  constructor(store: ObjectStore, make: Instruments) {
    super(store);
    this.#durations = make.histogram(
      'archive_store_operation_duration_seconds',
      'Time the store needed: of a put without the waiting for its bytes, of a get until the first of them',
      SECONDS,
      ['operation'],
    );
    this.#errors = make.counter(
      'archive_store_errors_total',
      'Operations of the store that failed for a fault of the store',
      ['operation', 'code'],
    );
    this.#brokenPromises = make.counter(
      'archive_store_broken_promises_total',
      'Puts whose bytes were not what was promised',
      ['code'],
    );
    this.#bytes = make.counter('archive_store_stored_bytes_total', 'Bytes of the objects that were put');
    // A counter that appears with its first event shows no increase.
    for (const operation of OPERATIONS) for (const code of FAULTS) this.#errors.inc({ operation, code }, 0);
    for (const code of BROKEN) this.#brokenPromises.inc({ code }, 0);
  }

  override async put(source: AsyncIterable<Uint8Array>, promised?: ExpectedContent): Promise<StoredObject> {
    const waiting = new Waiting(source);
    const stored = await this.#measured('put', () => super.put(waiting, promised), waiting);
    this.#bytes.inc(stored.length);
    return stored;
  }

  override async get(sha256: string): Promise<{ readonly length: number; readonly body: Readable }> {
    const object = await this.#measured('get', () => super.get(sha256));
    object.body.once('error', (error) => this.#countFault('get', error));
    return object;
  }

  override stat(sha256: string): Promise<{ readonly length: number } | undefined> {
    return this.#measured('stat', () => super.stat(sha256));
  }

  override materialize(sha256: string): Promise<LocalObject> {
    return this.#measured('check_out', () => super.materialize(sha256));
  }

  async #measured<Result>(
    operation: Operation,
    work: () => Promise<Result>,
    waiting = { seconds: 0 },
  ): Promise<Result> {
    const started = clock.monotonic();
    try {
      const result = await work();
      this.#durations.observe({ operation }, Math.max(0, secondsSince(started) - waiting.seconds));
      return result;
    } catch (error) {
      this.#countFault(operation, error);
      throw error;
    }
  }

  /** Counts a fault of the store. Errors of the source of a put, or of the reader of a body, are not. */
  #countFault(operation: Operation, error: unknown): void {
    const isFault = error instanceof ObjectStoreUnavailable || error instanceof ObjectError;
    if (isFault) this.#errors.inc({ operation, code: error.code });
    if (error instanceof ContentMismatch) this.#brokenPromises.inc({ code: error.code });
  }
}

/**
 * Passes chunks on and sums up the time spent waiting for them: an upload lasts as long as its client needs.
 */
class Waiting implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterable<Uint8Array>;
  seconds = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    let asked = clock.monotonic();
    for await (const piece of this.#source) {
      this.seconds += secondsSince(asked);
      yield piece;
      asked = clock.monotonic();
    }
    this.seconds += secondsSince(asked);
  }
}
