import { type DepositContentView, depositContent } from '../../projections/deposit-content.ts';
import { type DepositStatementView, depositStatement } from '../../projections/deposit-statement.ts';
import { type DepositStatusView, depositStatus } from '../../projections/deposit-status.ts';
import { type LoadedObjects, loadedObjects } from '../../projections/loaded-objects.ts';
import type { DepositFilter } from '../contents/deposit-filter.ts';
import { deposits } from '../domain/aggregates.ts';
import type { CreateDeposit, DepositCommand, DepositMetadata } from '../domain/deposit/commands.ts';
import type { DepositEvent } from '../domain/deposit/events.ts';
import type { Deposit } from '../domain/deposit/state.ts';
import type { EventLog, RecordedEvent, SeenEvent } from '../event-log/event-log.ts';
import { clock } from '../tools/clock.ts';
import { random } from '../tools/random.ts';
import type { Projector } from '../views/projector.ts';
import type { View } from '../views/view.ts';
import {
  type Actor,
  assertPossible,
  type CommandContext,
  findExecuted,
  type HandleOptions,
  handleCommand,
  type Outcome,
} from './command-handler.ts';
import type { DepositIdAllocator } from './deposit-id-allocator.ts';
import { type DepositPage, type DepositQuery, depositPage } from './deposit-page.ts';
import { DepositReads, type DepositView } from './deposit-reads.ts';
import { type IdempotencyRecord, IdempotencyStore } from './idempotency-store.ts';
import { isLoadedObject, isLoadedOrigin } from './loaded-lookup.ts';
import { OutageRetries, RETRY_LIMITS, type RetryLimits } from './outage-retries.ts';

/** Time limit for this node's views to contain a write; after that, they are folded from the stream. */
const VIEW_TIMEOUT_MS = 2000;
/** Identifies the command of a request. With `once`, repetitions of the request execute it only once. */
export type CommandIdentity = Pick<IdempotencyRecord, 'commandId' | 'requestId'> & { readonly once: boolean };

/** Command and query facade of deposits. A view that it returns is never older than the write before it. */
export class DepositService {
  readonly #log: EventLog;
  readonly #ids: DepositIdAllocator;
  readonly #projector: Projector;
  readonly #statuses: DepositView<DepositStatusView>;
  readonly #contents: DepositView<DepositContentView>;
  readonly #objects: View<LoadedObjects>;
  /** Positions in the log that queries of these views reflect. */
  readonly #queryPositions: Readonly<Record<'statuses' | 'objects', Pick<Projector, 'position'>>>;
  readonly #limits: RetryLimits;
  readonly #reads: DepositReads;
  /** The requests with an idempotency key. */
  readonly requests: IdempotencyStore;

  /**
   * @param isShared other nodes write to the log as well, so the views of this one may not have their writes yet.
   * @param limits retry limits of each request.
   */
  constructor(
    log: EventLog,
    ids: DepositIdAllocator,
    projector: Projector,
    isShared: boolean,
    limits: RetryLimits = RETRY_LIMITS,
  ) {
    this.#log = log;
    this.#limits = limits;
    this.#reads = new DepositReads(log, projector, isShared);
    this.requests = new IdempotencyStore(log);
    this.#ids = ids;
    this.#projector = projector;
    this.#statuses = { projection: depositStatus, view: projector.add(depositStatus) };
    this.#contents = { projection: depositContent, view: projector.add(depositContent) };
    this.#objects = projector.add(loadedObjects);
    this.#queryPositions = {
      statuses: projector.queries,
      objects: projector.queries,
    };
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
    retries = this.retries(),
  ): Promise<DepositStatusView | undefined> {
    if (atLeast === undefined) return this.#reads.present(this.#statuses, depositId);
    return this.#reads.atLeast(this.#statuses, depositId, atLeast, retries);
  }

  /** Reads the content, with the same guarantees as {@link status}. */
  content(
    depositId: number,
    atLeast?: number,
    retries = this.retries(),
  ): Promise<DepositContentView | undefined> {
    if (atLeast === undefined) return this.#reads.present(this.#contents, depositId);
    return this.#reads.atLeast(this.#contents, depositId, atLeast, retries);
  }

  /** Returns a synchronous check whether this is still the status; `undefined` if only the log knows. */
  statusValidator(shown: DepositStatusView): (() => boolean) | undefined {
    return this.#reads.validator(this.#statuses, shown);
  }

  /** Returns a synchronous check whether this is still the content; `undefined` if only the log knows. */
  contentValidator(shown: DepositContentView): (() => boolean) | undefined {
    return this.#reads.validator(this.#contents, shown);
  }

  /** Returns a page of a client's deposits, according to the views of this node. */
  list(query: DepositQuery): DepositPage {
    return depositPage(this.#statuses.view, query);
  }

  /**
   * Whether a deposit of the client from this origin is done. Includes every deposit that any node has reported as
   * done.
   */
  hasLoaded(client: string, origin: string): Promise<boolean> {
    return isLoadedOrigin(
      { client, origin },
      this.#statuses.view,
      this.#queryPositions.statuses.position,
      this.#log,
    );
  }

  /**
   * Whether a deposit of the client is done and has all these objects. Includes every deposit that any node has
   * reported as done.
   */
  hasLoadedObject(client: string, conditions: DepositFilter): Promise<boolean> {
    return isLoadedObject(
      client,
      conditions,
      this.#objects,
      this.#queryPositions.objects.position,
      this.#log,
    );
  }

  /** Returns the statement of any client's deposit at a revision. */
  statement(depositId: number, revision: number): Promise<DepositStatementView | undefined> {
    return this.#reads.at(depositStatement, depositId, revision, this.retries());
  }

  /** Returns at most `limit` events of a deposit from a revision on, oldest first. */
  history(depositId: number, from: number, limit: number): Promise<RecordedEvent[]> {
    return Array.fromAsync(this.#reads.events(depositId, { from, limit }));
  }

  /**
   * Creates a deposit. `command` is called with its id once everything else is settled.
   * `keyed` records an idempotent request, with an id from the function that it gets, and resolves to the record; to
   * `undefined` without a key.
   */
  async create(
    command: (depositId: number, uuid: string, now: string) => CreateDeposit | DepositMetadata,
    requestId: string,
    keyed: (newId: () => Promise<number>) => Promise<IdempotencyRecord | undefined>,
    retries = this.retries(),
  ): Promise<{ readonly depositId: number; readonly revision: number }> {
    const newId = () => this.#ids.next(retries.since);
    const request = (await keyed(newId)) ?? recordWithoutKey(await newId(), requestId);
    const { depositId, uuid, now } = request;
    const creation = command(depositId, uuid, now);
    const context = contextOf({ kind: 'client', name: creation.client }, request, now);
    const { revision } = await this.#awaitProjection(
      await handleCommand(this.#log, deposits, depositId, creation, context, { fresh: true, retries }),
    );
    return { depositId, revision };
  }

  /**
   * Executes a command on a deposit. `command` is called with the current time. `atRevision` requires the deposit to be
   * at that revision.
   */
  async change(
    depositId: number,
    command: (now: string) => DepositCommand,
    client: string,
    request: CommandIdentity,
    options: Pick<HandleOptions, 'atRevision' | 'retries'>,
  ): Promise<Outcome<Deposit, DepositEvent>> {
    const [now, retries] = [clock.date().toISOString(), this.retries()];
    const context = contextOf({ kind: 'client', name: client }, request, now);
    const { once } = request;
    return this.#awaitProjection(
      await handleCommand(this.#log, deposits, depositId, command(now), context, {
        retries,
        ...options,
        once,
      }),
    );
  }

  /** Checks a command without executing it. @throws what {@link change} would throw now. */
  assertPossible(
    depositId: number,
    command: (now: string) => DepositCommand,
    options: Pick<HandleOptions, 'atRevision' | 'retries'>,
  ): Promise<void> {
    return assertPossible(this.#log, deposits, depositId, [command(clock.date().toISOString())], options);
  }

  /** Whether the request has already changed the deposit. */
  async wasExecuted({ depositId, commandId }: IdempotencyRecord): Promise<boolean> {
    return (await findExecuted(this.#log, deposits, depositId, commandId)) !== undefined;
  }

  /** Returns the content of any client's deposit at a revision. */
  contentAt(
    depositId: number,
    revision: number,
    retries = this.retries(),
  ): Promise<DepositContentView | undefined> {
    return this.#reads.at(depositContent, depositId, revision, retries);
  }

  /** The last event of a deposit that the view contains; `undefined` without one. */
  get lastSeen(): SeenEvent | undefined {
    return this.#projector.lastSeen;
  }

  /**
   * Returns the deposit that a request changed after the given event. Searches the whole log if the log does not
   * contain that event.
   */
  async findByCorrelation(requestId: string, after: SeenEvent | undefined): Promise<number | undefined> {
    const isKnown = after !== undefined && (await this.#projector.knows(after));
    const query = { after: isKnown ? after.position : undefined, streamPrefixes: [deposits.prefix] };
    for await (const { stream, metadata } of this.#log.readAll(query)) {
      if (metadata['$correlationId'] === requestId) return Number(stream.slice(deposits.prefix.length));
    }
    return undefined;
  }

  /** Whether the log contains a deposit of the client with this archive; a log restored from a backup may not. */
  async hasArchive(depositId: number, client: string, sha256: string): Promise<boolean> {
    for await (const stored of this.#reads.events(depositId)) {
      const { type, data } = deposits.codec.read(stored);
      if (type === 'DepositCreated' && data.client !== client) return false;
      if ('archive' in data && data.archive.sha256 === sha256) return true;
    }
    return false;
  }

  async #awaitProjection(outcome: Outcome<Deposit, DepositEvent>): Promise<Outcome<Deposit, DepositEvent>> {
    await this.#projector.passed(outcome.position, VIEW_TIMEOUT_MS);
    return outcome;
  }
}

function recordWithoutKey(depositId: number, requestId: string): Omit<IdempotencyRecord, 'fingerprint'> {
  return { commandId: requestId, depositId, uuid: random.uuid(), now: clock.date().toISOString(), requestId };
}

function contextOf(
  actor: Actor,
  { commandId, requestId }: Pick<IdempotencyRecord, 'commandId' | 'requestId'>,
  now: string,
): CommandContext {
  return { commandId, actor, now, correlationId: requestId };
}
