import type { Delivery } from './deliveries.ts';

/**
 * Queues the deliveries of one receiver, in order. Its length is bounded by the unacknowledged events of the consumer.
 */
export class DeliveryQueue {
  #waiting: Delivery[] = [];
  #over: { readonly error?: unknown } | undefined;
  #wake = () => {};

  push(delivery: Delivery): void {
    this.#waiting.push(delivery);
    this.#wake();
  }

  /** Ends the iteration at once; with an error, by throwing it. */
  end(outcome: { readonly error?: unknown } = {}): void {
    this.#over ??= outcome;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Delivery> {
    while (true) {
      const batch = this.#waiting;
      this.#waiting = [];
      for (const delivery of batch) {
        if (this.#over) break;
        yield delivery;
      }
      if (this.#over && 'error' in this.#over) throw this.#over.error;
      if (this.#over) return;
      if (this.#waiting.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
