import { isDeepStrictEqual } from 'node:util';
import { type DepositContentView, depositContent } from '../../projections/deposit-content.ts';
import { type DepositStatusView, depositStatus } from '../../projections/deposit-status.ts';
import { depositOfStream, deposits } from '../domain/aggregates.ts';
import type { DepositEvent } from '../domain/deposit/events.ts';
import type { EventLog, ReadStreamOptions, RecordedEvent, SeenEvent } from '../event-log/event-log.ts';
import { OutageRetries, RETRY_LIMITS, type RetryLimits } from '../event-log/outage-retries.ts';
import { clock } from '../tools/clock.ts';
import { apply, completed } from '../views/fold.ts';
import type { Projection } from '../views/projection.ts';
import type { Projector } from '../views/projector.ts';
import type { View } from '../views/view.ts';
import { readState } from './command-handler.ts';
import { type DepositPage, type DepositQuery, depositPage } from './deposit-page.ts';
import type { IdempotencyRecord } from './idempotency/idempotency-store.ts';

/** Time limit for the check with the log whether a view is current. */
const CURRENT_TIMEOUT_MS = 1000;

/** An id that no deposit has. */
const NO_DEPOSIT = 0;

type CommandOfDeposit = Pick<IdempotencyRecord, 'depositId' | 'commandId'>;
type Revised = { readonly depositId: number; readonly revision: number };

/** A view of deposits, and its projection. */
type DepositView<Type> = { readonly projection: Projection<Type, DepositEvent>; readonly view: View<Type> };

/**
 * Reads deposits from the views of this node, or from their streams if a view may be stale. A view that it returns is
 * not older than the write before it, unless the event log does not answer.
 */
export class DepositQueries {
  readonly #log: EventLog;
  readonly #projector: Projector;
  readonly #isShared: boolean;
  readonly #limits: RetryLimits;
  readonly #statuses: DepositView<DepositStatusView>;
  readonly #contents: DepositView<DepositContentView>;

  /**
   * @param isShared other nodes write to the log as well, so the views of this one may not have their writes yet.
   * @param limits retry limits of each request.
   */
  constructor(log: EventLog, projector: Projector, isShared: boolean, limits: RetryLimits = RETRY_LIMITS) {
    this.#log = log;
    this.#projector = projector;
    this.#isShared = isShared;
    this.#limits = limits;
    this.#statuses = { projection: depositStatus, view: projector.add(depositStatus) };
    this.#contents = { projection: depositContent, view: projector.add(depositContent) };
  }

  /** Number of times that views were replaced since the start. */
  get viewGeneration(): number {
    return this.#projector.switches;
  }

  /** Starts the retries of one request. */
  retries(): OutageRetries {
    return new OutageRetries(this.#limits);
  }

  /**
   * Reads the status of any client's deposit; `undefined` if it does not exist. `atLeast` is a revision that the
   * deposit is known to have, such as that of a write.
   * @throws {EventLogUnavailable} only an older revision can be read.
   */
  status(
    depositId: number,
    atLeast?: number,
    retries?: OutageRetries,
  ): Promise<DepositStatusView | undefined> {
    return this.#read(this.#statuses, depositId, atLeast, retries);
  }

  /** Reads the content, with the same guarantees as {@link status}. */
  content(
    depositId: number,
    atLeast?: number,
    retries?: OutageRetries,
  ): Promise<DepositContentView | undefined> {
    return this.#read(this.#contents, depositId, atLeast, retries);
  }

  /**
   * Reads the status of a deposit of the client; `undefined` if it does not exist or belongs to another client. Both take
   * the same time, so that it reveals no ids. A function of its own, which resources of HTTP are given.
   */
  readonly ownStatus = (depositId: number, client: string): Promise<DepositStatusView | undefined> =>
    this.#readOwn(this.#statuses, depositId, client);

  /** Reads the content, with the same guarantees as {@link ownStatus}. */
  readonly ownContent = (depositId: number, client: string): Promise<DepositContentView | undefined> =>
    this.#readOwn(this.#contents, depositId, client);

  /** Returns the content of any client's deposit at a revision that is known to exist. */
  contentAt(
    depositId: number,
    revision: number,
    retries?: OutageRetries,
  ): Promise<DepositContentView | undefined> {
    return this.#foldAtLeast(depositContent, depositId, revision, retries, { limit: revision + 1 });
  }

  /** Returns at most `limit` events of a deposit from a revision on, oldest first. */
  history(depositId: number, from: number, limit: number): Promise<RecordedEvent[]> {
    return Array.fromAsync(this.#events(depositId, { from, limit }));
  }

  /** Returns a synchronous check whether this is still the status; `undefined` if only the log knows. */
  statusValidator(shown: DepositStatusView): (() => boolean) | undefined {
    return this.#validator(this.#statuses.view, shown);
  }

  /** Returns a synchronous check whether this is still the content; `undefined` if only the log knows. */
  contentValidator(shown: DepositContentView): (() => boolean) | undefined {
    return this.#validator(this.#contents.view, shown);
  }

  /** Returns a page of a client's deposits, according to the views of this node. */
  async list(query: DepositQuery): Promise<DepositPage> {
    return depositPage(await this.#statuses.view.settled(), query);
  }

  /** Whether the command has already changed its deposit. */
  async wasExecuted(command: CommandOfDeposit): Promise<boolean> {
    return (await this.#eventsOf(command)).length > 0;
  }

  /** Resolves to the archive and the entry that a command has added; both `undefined` if it was not executed. */
  async contentOf(command: CommandOfDeposit) {
    const added = (await this.#eventsOf(command)).map(({ data }) => data);
    const archive = added.find((data) => 'archive' in data)?.archive;
    return { archive, entry: added.find((data) => 'entry' in data)?.entry };
  }

  /** Resolves to the collection in which a command has created its deposit; `undefined` if it has created none. */
  async collectionOf(command: CommandOfDeposit): Promise<string | undefined> {
    const events = await this.#eventsOf(command);
    return events.flatMap(({ type, data }) => (type === 'DepositCreated' ? [data.collection] : []))[0];
  }

  /** Returns the deposit that a request changed after the event, or in the whole log if it lacks the event. */
  async findByCorrelation(requestId: string, after: SeenEvent | undefined): Promise<number | undefined> {
    const isKnown = after !== undefined && (await this.#projector.knows(after));
    const query = { after: isKnown ? after.position : undefined, streamPrefixes: [deposits.prefix] };
    for await (const { stream, metadata } of this.#log.readAll(query)) {
      if (metadata['$correlationId'] === requestId) return depositOfStream(stream) ?? undefined;
    }
    return undefined;
  }

  /** Whether the log contains a deposit of the client with this archive; a log restored from a backup may not. */
  async hasArchive(depositId: number, client: string, sha256: string): Promise<boolean> {
    for await (const stored of this.#events(depositId)) {
      const { type, data } = deposits.codec.read(stored);
      if (type === 'DepositCreated' && data.client !== client) return false;
      if ('archive' in data && data.archive.sha256 === sha256) return true;
    }
    return false;
  }

  /**
   * Without `atLeast`, a missing or old row may only be late: the stream decides. While the log is unavailable, returns
   * the row of the view.
   */
  async #read<Type extends Revised>(
    { projection, view }: DepositView<Type>,
    depositId: number,
    atLeast?: number,
    retries?: OutageRetries,
  ): Promise<Type | undefined> {
    const shown = view.get(String(depositId));
    if (atLeast !== undefined) {
      if (shown && shown.revision >= atLeast) return shown;
      return this.#foldAtLeast(projection, depositId, atLeast, retries);
    }
    const hasAll = !this.#isShared && this.#projector.lastError === undefined;
    if (shown && (hasAll || (await this.#isCurrent(shown)))) return shown;
    return (await this.#fold(projection, depositId)).view;
  }

  async #readOwn<Type extends Revised & { readonly client: string }>(
    from: DepositView<Type>,
    depositId: number,
    client: string,
  ): Promise<Type | undefined> {
    const shown = from.view.get(String(depositId));
    // The owner never changes. A deposit of another client costs the read of a stream that does not exist.
    const isForeign = shown !== undefined && shown.client !== client;
    const found = await this.#read(from, isForeign ? NO_DEPOSIT : depositId);
    return found?.client === client ? found : undefined;
  }

  /** Returns a function that checks whether the view still has this row. */
  #validator<Type extends Revised>(view: View<Type>, shown: Type): (() => boolean) | undefined {
    const [key, { revision }, { switches }] = [String(shown.depositId), shown, this.#projector];
    if (this.#isShared || !isDeepStrictEqual(view.get(key), shown)) return undefined;
    return () => this.#projector.switches === switches && view.get(key)?.revision === revision;
  }

  /** Resolves to the events of a command; none if it was not executed. */
  async #eventsOf(command: CommandOfDeposit) {
    const { depositId, commandId } = command;
    const { executed } = await readState(this.#log, deposits, depositId, { commandId });
    return executed?.events ?? [];
  }

  #events(depositId: number, options: ReadStreamOptions = {}): AsyncIterable<RecordedEvent> {
    return this.#log.readStream(`${deposits.prefix}${depositId}`, options);
  }

  /**
   * Folds the stream until it reaches the revision: a deposed leader may return fewer events than were appended.
   * @throws {EventLogUnavailable} no read of the log shows the revision within the time limit.
   */
  async #foldAtLeast<Type>(
    projection: Projection<Type, DepositEvent>,
    depositId: number,
    atLeast: number,
    retries = this.retries(),
    options: ReadStreamOptions = {},
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
    for await (const stored of this.#events(depositId, options)) {
      view = apply(projection, view, stored);
      ({ revision } = stored);
    }
    return { view: completed(projection, view), revision };
  }

  async #isCurrent({ depositId, revision }: Revised): Promise<boolean> {
    try {
      const signal = clock.timeoutSignal(CURRENT_TIMEOUT_MS);
      const [last] = await Array.fromAsync(this.#events(depositId, { backwards: true, limit: 1, signal }));
      return last === undefined || last.revision <= revision;
    } catch {
      return true;
    }
  }
}
