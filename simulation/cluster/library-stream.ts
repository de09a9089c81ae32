import type { Incarnation } from '../world/host.ts';
import { world } from '../world/world.ts';

type Listener = (value?: unknown) => void;

/** A stream of the client library in object mode: the part of it that the adapter uses. */
export class LibraryStream {
  readonly process: Incarnation;
  /** Called when the reader closes it. */
  onClose: () => void = () => undefined;
  /** Called with the ids of events that the reader acknowledges. */
  onAcknowledged: (ids: readonly string[]) => void = () => undefined;
  readonly #items: unknown[] = [];
  readonly #listeners = new Map<string, Listener[]>();
  #isOver = false;

  constructor(process: Incarnation) {
    this.process = process;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get readableLength(): number {
    return this.#items.length;
  }

  read(): unknown {
    return this.#items.shift() ?? null;
  }

  push(item: unknown): void {
    this.#items.push(item);
    this.emit('readable');
  }

  on(name: string, listener: Listener): this {
    this.#listeners.getOrInsertComputed(name, () => []).push(listener);
    return this;
  }

  once(name: string, listener: Listener): this {
    return this.on(name, listener);
  }

  emit(name: string, value?: unknown): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(value);
  }

  give(items: readonly unknown[]): void {
    if (this.#isOver) return;
    this.#items.push(...items);
    this.emit('readable');
  }

  /** Gives the last items. */
  end(items: readonly unknown[]): void {
    if (this.#isOver) return;
    this.give(items);
    this.#isOver = true;
    this.emit('end');
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.emit('error', error);
  }

  /** Reports a broken connection to the reader a moment later. */
  breakOff(error: Error): void {
    world().schedule(world().networkRandom.between(0.1, 3), this.process, () => this.fail(error));
  }

  async ack(...copies: readonly { readonly event: { readonly id: string } }[]): Promise<void> {
    if (this.#isOver) throw new Error('The subscription is closed.');
    world().called(this.process, 'ack', 'sent');
    this.onAcknowledged(copies.map(({ event }) => event.id));
  }

  async cancel(): Promise<void> {
    this.destroy();
  }

  async unsubscribe(): Promise<void> {
    this.destroy();
  }

  destroy(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onClose();
    this.emit('end');
  }
}
