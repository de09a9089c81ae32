import { clock } from '../../tools/clock.ts';

const [SMALLEST, LARGEST] = [15, 1000];
const REMEMBERED_MS = 60_000;
/** A page that used a smaller part of the time limit allows one of twice the size. */
const QUICK_SHARE = 1 / 4;

/**
 * The number of events that one read requests. A read that times out would time out again, since events may be large or
 * the network slow; so the next one requests half. Quick pages double it again, a minute after the last time-out at the
 * earliest.
 */
export class PageSize {
  readonly #rememberedMs: number;
  #current = LARGEST;
  #timedOutAt = Number.NEGATIVE_INFINITY;

  constructor(rememberedMs = REMEMBERED_MS) {
    this.#rememberedMs = rememberedMs;
  }

  get current(): number {
    return this.#current;
  }

  /** Records that a read of `asked` events timed out. Small reads say nothing about the size of pages. */
  timedOut(asked: number): void {
    if (asked <= SMALLEST) return;
    this.#current = Math.max(SMALLEST, Math.min(this.#current, Math.floor(asked / 2)));
    this.#timedOutAt = clock.monotonic();
  }

  /** Records that a read of `asked` events returned `found`, in this share of its time limit, from 0 to 1. */
  succeeded(asked: number, found: number, share: number): void {
    const isFull = found >= asked && asked >= this.#current;
    const isRemembered = clock.monotonic() - this.#timedOutAt < this.#rememberedMs;
    if (isFull && share < QUICK_SHARE && !isRemembered) this.#current = Math.min(LARGEST, this.#current * 2);
  }
}
