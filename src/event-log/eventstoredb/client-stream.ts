import { inTime } from '../../in-time.ts';
import { clock } from '../../tools/clock.ts';

/** Streams of the client, of whatever kind, in object mode: reads are cancelled, subscriptions unsubscribed. */
export type ClientReadable = {
  readonly readableLength: number;
  read(): unknown;
  on(event: 'readable' | 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  destroy(): unknown;
} & ({ cancel(): Promise<void> } | { unsubscribe(): Promise<void> });

const PATIENCE = 2000;

/**
 * Takes items from a stream of the client, as many at once as there are. The client's streams need care: they say
 * an error without being destroyed by it, also long after nobody reads them, and they end silently when
 * the client cancels them.
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

  /** It has ended or failed, which is said when all that came before has been taken. */
  get isOver(): boolean {
    return this.#ended || this.#failure !== undefined;
  }

  /** Nothing can be taken at once. */
  get isDrained(): boolean {
    return this.#source.readableLength === 0;
  }

  /**
   * At most `limit` items: none when nothing came for `quiet` milliseconds, `undefined` at the end.
   * @throws what the client says went wrong, after all that came before; the reason of an aborted signal at once.
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

  /** Tells the server, for which two seconds must be enough. */
  async [Symbol.asyncDispose](): Promise<void> {
    // A subscription that the server ended stays half open until it is told.
    if (this.isOver && 'cancel' in this.#source) return;
    const source = this.#source;
    const ending = 'cancel' in source ? source.cancel() : source.unsubscribe();
    await inTime(ending, PATIENCE).catch(() => undefined);
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
    const timer = clock.setTimeout(wake, quiet);
    this.#wake = wake;
    signal.addEventListener('abort', wake, { once: true });
    await promise;
    signal.removeEventListener('abort', wake);
    clock.clearTimeout(timer);
  }
}
