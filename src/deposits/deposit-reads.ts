import { isDeepStrictEqual } from 'node:util';
import { deposits } from '../domain/aggregates.ts';
import type { DepositEvent } from '../domain/deposit/events.ts';
import type { EventLog, ReadStreamOptions, RecordedEvent } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import { apply } from '../views/fold.ts';
import type { Projection } from '../views/projection.ts';
import type { Projector } from '../views/projector.ts';
import type { View } from '../views/view.ts';
import type { OutageRetries } from './outage-retries.ts';

/** Time limit for the check with the log whether a view is current. */
const CURRENT_TIMEOUT_MS = 1000;

type Revised = { readonly revision: number };

/** A view of deposits, and its projection. */
export type DepositView<Type> = {
  readonly projection: Projection<Type, DepositEvent>;
  readonly view: View<Type>;
};

/** Reads one deposit from the views of this node, or from its stream if a view may be stale. */
export class DepositReads {
  readonly #log: EventLog;
  readonly #projector: Pick<Projector, 'lastError' | 'switches'>;
  readonly #isShared: boolean;

  /** @param isShared other nodes write to the log as well, so the views of this one may not have their writes yet. */
  constructor(log: EventLog, projector: Pick<Projector, 'lastError' | 'switches'>, isShared: boolean) {
    this.#log = log;
    this.#projector = projector;
    this.#isShared = isShared;
  }

  /**
   * Returns the current state of the deposit, `undefined` if it does not exist. A missing or old row may only be late:
   * the stream decides. While the log is unavailable, returns the row of the view.
   */
  async present<Type extends Revised>(
    { projection, view }: DepositView<Type>,
    depositId: number,
  ): Promise<Type | undefined> {
    const shown = view.get(String(depositId));
    const hasAll = !this.#isShared && this.#projector.lastError === undefined;
    if (shown && (hasAll || (await this.#isCurrent(shown, depositId)))) return shown;
    return (await this.#fold(projection, depositId)).view;
  }

  /**
   * Returns the deposit at a revision that is known to exist, or later; `undefined` if it was deleted since.
   * @throws {EventLogUnavailable} the view is older, and no read of the log shows the revision within the time limit.
   */
  async atLeast<Type extends Revised>(
    { projection, view }: DepositView<Type>,
    depositId: number,
    revision: number,
    retries: OutageRetries,
  ): Promise<Type | undefined> {
    const shown = view.get(String(depositId));
    if (shown && shown.revision >= revision) return shown;
    return this.#foldAtLeast(projection, depositId, revision, retries, {});
  }

  /**
   * Returns the deposit as it was at a revision that is known to exist.
   * @throws {EventLogUnavailable} no read of the log shows the revision within the time limit.
   */
  at<Type>(
    projection: Projection<Type, DepositEvent>,
    depositId: number,
    revision: number,
    retries: OutageRetries,
  ): Promise<Type | undefined> {
    return this.#foldAtLeast(projection, depositId, revision, retries, { limit: revision + 1 });
  }

  /**
   * Returns a function that checks synchronously whether the view still has this row; `undefined` if only the log
   * knows.
   */
  validator<Type extends Revised & { readonly depositId: number }>(
    { view }: DepositView<Type>,
    shown: Type,
  ): (() => boolean) | undefined {
    const [key, { revision }, { switches }] = [String(shown.depositId), shown, this.#projector];
    if (this.#isShared || !isDeepStrictEqual(view.get(key), shown)) return undefined;
    return () => this.#projector.switches === switches && view.get(key)?.revision === revision;
  }

  /** Reads the events of a deposit. */
  events(depositId: number, options: ReadStreamOptions = {}): AsyncIterable<RecordedEvent> {
    return this.#log.readStream(`${deposits.prefix}${depositId}`, options);
  }

  /** Folds the stream until it reaches the revision: a deposed leader may return fewer events than were appended. */
  async #foldAtLeast<Type>(
    projection: Projection<Type, DepositEvent>,
    depositId: number,
    atLeast: number,
    retries: OutageRetries,
    options: ReadStreamOptions,
  ): Promise<Type | undefined> {
    const { since } = retries;
    while (true) {
      const { view, revision } = await this.#fold(projection, depositId, { ...options, since });
      if (revision >= atLeast) return view;
      await retries.pause(`No read shows deposit ${depositId} at revision ${atLeast}`);
    }
  }

  async #fold<Type>(
    projection: Projection<Type, DepositEvent>,
    depositId: number,
    options?: ReadStreamOptions,
  ): Promise<{ readonly view: Type | undefined; readonly revision: number }> {
    let view: Type | undefined;
    let revision = -1;
    for await (const stored of this.events(depositId, options)) {
      view = apply(projection, view, stored);
      ({ revision } = stored);
    }
    return { view, revision };
  }

  async #isCurrent({ revision }: Revised, depositId: number): Promise<boolean> {
    try {
      const signal = clock.timeoutSignal(CURRENT_TIMEOUT_MS);
      const [last] = await Array.fromAsync(this.events(depositId, { backwards: true, limit: 1, signal }));
      return last === undefined || last.revision <= revision;
    } catch {
      return true;
    }
  }
}
