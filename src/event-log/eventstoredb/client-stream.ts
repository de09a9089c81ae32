import { withTimeout } from '../../tools/concurrency/with-timeout.ts';

/** A stream of the client, of any kind, in object mode: reads are cancelled, subscriptions unsubscribed. */
type ClientReadable = {
  readonly readableLength: number;
  read(): unknown;
  on(event: 'readable' | 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  destroy(): unknown;
} & ({ cancel(): Promise<void> } | { unsubscribe(): Promise<void> });

const CLOSE_TIMEOUT_MS = 2000;

/**
 * Reads items from a stream of the client, as many at once as are available. The client's streams need care: they emit
 * an error without being destroyed by it, also long after the last read. They end silently when the client cancels
 * them.
 */
export class ClientStream<Item> implements AsyncDisposable {
  readonly #source: ClientReadable;
  #failure: { readonly error: unknown } | undefined;
  #ended = false;
  #wake = () => {};

  constructor(source: ClientReadable) {
    this.#source = source;
    source.on('readable', () => this.#wake());
    source.on('end', () => this.#end());
    source.on('close', () => this.#end());
    source.on('error', (error) => {
      this.#failure ??= { error };
      this.#wake();
    });
  }

  /** Whether the stream has ended or failed. {@link take} reports that only after all earlier items. */
  get isOver(): boolean {
    return this.#ended || this.#failure !== undefined;
  }

  /** Whether no item is available at once. */
  get isDrained(): boolean {
    return this.#source.readableLength === 0;
  }

  /**
   * Resolves to at most `limit` items: none after `quiet` milliseconds without items, `undefined` at the end.
   * @throws the error of the client, after all earlier items; the reason of an aborted signal at once.
   */
  async take(limit: number, quiet: number, signal: AbortSignal): Promise<Item[] | undefined> {
    signal.throwIfAborted();
    const items = this.#available(limit);
    if (items.length > 0) return items;
    if (!this.isOver) await this.#woken(quiet, signal);
    signal.throwIfAborted();
    const late = this.#available(limit);
    if (late.length > 0 || !this.isOver) return late;
    if (this.#failure) throw this.#failure.error;
    return undefined;
  }

  /** Unsubscribes or cancels at the server, with a time limit of two seconds. */
  async [Symbol.asyncDispose](): Promise<void> {
    // A subscription that the server ended stays half open until the client unsubscribes.
    if (this.isOver && 'cancel' in this.#source) return;
    const source = this.#source;
    const ending = 'cancel' in source ? source.cancel() : source.unsubscribe();
    await withTimeout(ending, CLOSE_TIMEOUT_MS).catch(() => undefined);
    source.destroy();
  }

  #available(limit: number): Item[] {
    const items: Item[] = [];
    while (items.length < limit) {
      const item = this.#source.read() as Item | null; // object mode
      if (item === null) break;
      items.push(item);
    }
    return items;
  }

  #end(): void {
    this.#ended = true;
    this.#wake();
  }

  async #woken(quiet: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#wake = wake;
    signal.addEventListener('abort', wake, { once: true });
    await withTimeout(promise, quiet);
    signal.removeEventListener('abort', wake);
  }
}
