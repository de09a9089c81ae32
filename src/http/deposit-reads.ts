import { isDeepStrictEqual } from 'node:util';
import { deposits } from '../domain/aggregates.ts';
import type { DepositEvent } from '../domain/deposit/events.ts';
import type { EventLog, ReadStreamOptions, RecordedEvent } from '../event-log/event-log.ts';
import type { OutageRetries } from '../outage-retries.ts';
import { apply } from '../read-models/fold.ts';
import type { Projection } from '../read-models/projection.ts';
import type { Projector, View } from '../read-models/projector.ts';
import { clock } from '../tools/clock.ts';

/** How long a read waits for the log to say whether a view is current, in milliseconds. */
const CURRENT_TIMEOUT_MS = 1000;

type Revised = { readonly revision: number };

/** A view of deposits, and the projection that makes it. */
export type DepositView<Type> = {
  readonly projection: Projection<Type, DepositEvent>;
  readonly view: View<Type>;
};

/** Reads one deposit from the views of this node, or from its stream where a view may be too old. */
export class DepositReads {
  readonly #log: EventLog;
  readonly #projector: Pick<Projector, 'trouble' | 'switches'>;
  readonly #isShared: boolean;

  /** @param isShared other nodes write to the log as well, so the views of this one may not have their writes yet. */
  constructor(log: EventLog, projector: Pick<Projector, 'trouble' | 'switches'>, isShared: boolean) {
    this.#log = log;
    this.#projector = projector;
    this.#isShared = isShared;
  }

  /**
   * Returns the deposit at present, `undefined` if it does not exist. A view that is missing or old here may only be late: the
   * stream decides. While the log cannot be reached, the view is better than nothing.
   */
  async present<Type extends Revised>(
    { projection, view }: DepositView<Type>,
    depositId: number,
  ): Promise<Type | undefined> {
    const shown = view.get(String(depositId));
    const hasAll = !this.#isShared && this.#projector.trouble === undefined;
    if (shown && (hasAll || (await this.#isCurrent(shown, depositId)))) return shown;
    return (await this.#fold(projection, depositId)).view;
  }

  /**
   * The deposit at a revision that is known to exist, or later; `undefined` if it was deleted since.
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
    return this.#folded(projection, depositId, revision, retries, {});
  }

  /**
   * The deposit as it was at a revision that is known to exist.
   * @throws {EventLogUnavailable} no read of the log shows the revision within the time limit.
   */
  at<Type>(
    projection: Projection<Type, DepositEvent>,
    depositId: number,
    revision: number,
    retries: OutageRetries,
  ): Promise<Type | undefined> {
    return this.#folded(projection, depositId, revision, retries, { limit: revision + 1 });
  }

  /** A check, valid from now on, whether the view still shows this; `undefined` where only the log knows. */
  stays<Type extends Revised & { readonly depositId: number }>(
    { view }: DepositView<Type>,
    shown: Type,
  ): (() => boolean) | undefined {
    const [key, { revision }, { switches }] = [String(shown.depositId), shown, this.#projector];
    if (this.#isShared || !isDeepStrictEqual(view.get(key), shown)) return undefined;
    return () => this.#projector.switches === switches && view.get(key)?.revision === revision;
  }

  /** The events of a deposit. */
  events(depositId: number, options: ReadStreamOptions = {}): AsyncIterable<RecordedEvent> {
    return this.#log.readStream(`${deposits.prefix}${depositId}`, options);
  }

  /** A leader that was deposed may answer with less than what was appended. */
  async #folded<Type>(
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
