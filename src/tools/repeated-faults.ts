import { clock } from './clock.ts';

/**
 * Decides which of repeated faults are logged: the first of each subject, one with another reason, and one in each
 * interval while it lasts.
 */
export class RepeatedFaults<Subject> {
  readonly #intervalMs: number;
  readonly #logged = new Map<Subject, { readonly reason: string; readonly at: number }>();

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** The subjects of which a fault was logged that is not over. */
  get subjects(): Iterable<Subject> {
    return this.#logged.keys();
  }

  /** Returns whether to log this fault. */
  isNews(subject: Subject, reason: string): boolean {
    const last = this.#logged.get(subject);
    const now = clock.monotonic();
    if (last?.reason === reason && now - last.at < this.#intervalMs) return false;
    this.#logged.set(subject, { reason, at: now });
    return true;
  }

  /** Must be called when the fault of a subject is over. Returns whether one was logged. */
  isOver(subject: Subject): boolean {
    return this.#logged.delete(subject);
  }
}
