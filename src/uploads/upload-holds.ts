import { clock } from '../tools/clock.ts';
import { UploadFault } from './upload-fault.ts';

/** A sender from whom nothing has come for so long, in milliseconds, gives way to the next request. */
const STALLED_AFTER = 2000;

/** Lets one request at a time write to an upload, use it or remove it. */
export class UploadHolds {
  readonly #held = new Map<string, Hold>();
  readonly #stalledAfter: number;

  constructor(stalledAfter = STALLED_AFTER) {
    this.#stalledAfter = stalledAfter;
  }

  has(id: string): boolean {
    return this.#held.has(id);
  }

  /**
   * Resolves at once, or when a holder has let go that was made to: one who has stalled, or, for who `insists`,
   * any that can be interrupted.
   * @throws {UploadFault} UPLOAD_BUSY
   */
  async take(id: string, interrupt?: () => void, { insists = false } = {}): Promise<Hold> {
    for (let other = this.#held.get(id); other; other = this.#held.get(id)) {
      if (!this.#givesWay(other, insists)) {
        throw new UploadFault(
          'UPLOAD_BUSY',
          'Another request is at this upload: try again when it has ended.',
        );
      }
      other.interrupt();
      await other.released;
    }
    const hold = new Hold(interrupt, () => this.#held.delete(id));
    this.#held.set(id, hold);
    return hold;
  }

  /** Resolves when a holder that has stalled has let go; at once when there is none. */
  async withoutStalled(id: string): Promise<void> {
    const holder = this.#held.get(id);
    if (!holder || !this.#givesWay(holder, false)) return;
    holder.interrupt();
    await holder.released;
  }

  /** Ends what every holder does that can be interrupted. */
  interruptAll(): void {
    for (const holder of this.#held.values()) holder.interrupt();
  }

  /** Resolves when all have let go. */
  async allReleased(): Promise<void> {
    await Promise.all([...this.#held.values()].map(({ released }) => released));
  }

  #givesWay(holder: Hold, always: boolean): boolean {
    return holder.canBeInterrupted && (always || clock.monotonic() - holder.progressAt >= this.#stalledAfter);
  }
}

/** To be disposed of when the upload is as it is to stay. */
export class Hold implements Disposable {
  readonly released: Promise<void>;
  readonly #release: () => void;
  #interrupt: (() => void) | undefined;
  #progressAt = clock.monotonic();

  constructor(interrupt: (() => void) | undefined, onReleased: () => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.released = promise;
    this.#interrupt = interrupt;
    this.#release = () => {
      onReleased();
      resolve();
    };
  }

  get progressAt(): number {
    return this.#progressAt;
  }

  get canBeInterrupted(): boolean {
    return this.#interrupt !== undefined;
  }

  interrupt(): void {
    this.#interrupt?.();
  }

  /** The same pieces; while they come the holder has not stalled, and when all have come it is no longer interrupted. */
  async *watched(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      this.#progressAt = clock.monotonic();
      yield piece;
      this.#progressAt = clock.monotonic(); // the disk was slow, not the sender
    }
    this.#interrupt = undefined;
  }

  [Symbol.dispose](): void {
    this.#release();
  }
}
