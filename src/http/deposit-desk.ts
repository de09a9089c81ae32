import { type DepositContentView, depositContent } from '../../projections/deposit-content.ts';
import { type DepositStatementView, depositStatement } from '../../projections/deposit-statement.ts';
import { type DepositStatusView, depositStatus } from '../../projections/deposit-status.ts';
import { type LoadedObjects, loadedObjects } from '../../projections/loaded-objects.ts';
import {
  type Actor,
  assertPossible,
  type CommandContext,
  carriedOut,
  type ExecuteOptions,
  execute,
  type Outcome,
} from '../command-handler.ts';
import type { DepositIds } from '../deposit-ids.ts';
import { deposits } from '../domain/aggregates.ts';
import type { CreateDeposit, DepositCommand, DepositMetadata } from '../domain/deposit/commands.ts';
import type { DepositEvent } from '../domain/deposit/events.ts';
import type { Deposit } from '../domain/deposit/state.ts';
import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';
import { type KeyedRequest, KeyedRequests } from '../keyed-requests.ts';
import { OutageRetries, RETRY_LIMITS, type RetryLimits } from '../outage-retries.ts';
import type { Projector, View } from '../read-models/projector.ts';
import type { DepositConditions } from '../resolving/deposit-conditions.ts';
import { clock } from '../tools/clock.ts';
import { random } from '../tools/random.ts';
import type { SeenEvent } from '../uploads/upload-record.ts';
import { type DepositPage, type DepositQuery, depositPage } from './answering/deposit-page.ts';
import { DepositReads, type DepositView } from './deposit-reads.ts';
import { isLoadedObject, isLoadedOrigin } from './receiving/is-loaded.ts';

/** How long a write waits for this node's views, in milliseconds; after it they are folded from the stream. */
const VIEW_PATIENCE = 2000;
/** As whose part a command is carried out; `once`, however often it comes. */
export type Carried = Pick<KeyedRequest, 'commandId' | 'requestId'> & { readonly once: boolean };

/** Where requests meet the log: commands go in, and the views that answer come out, never older than the write. */
export class DepositDesk {
  readonly #log: EventLog;
  readonly #ids: DepositIds;
  readonly #projector: Projector;
  readonly #statuses: DepositView<DepositStatusView>;
  readonly #contents: DepositView<DepositContentView>;
  readonly #objects: View<LoadedObjects>;
  /** How far the log is in what is found in each of them. */
  readonly #queried: Readonly<Record<'statuses' | 'objects', Pick<Projector, 'position'>>>;
  readonly #limits: RetryLimits;
  readonly #reads: DepositReads;
  /** What requests with a key were to do. */
  readonly requests: KeyedRequests;

  /**
   * @param isShared other nodes write to the log as well, so the views of this one may not have their writes yet.
   * @param limits of each request.
   */
  constructor(
    log: EventLog,
    ids: DepositIds,
    projector: Projector,
    isShared: boolean,
    limits: RetryLimits = RETRY_LIMITS,
  ) {
    this.#log = log;
    this.#limits = limits;
    this.#reads = new DepositReads(log, projector, isShared);
    this.requests = new KeyedRequests(log);
    this.#ids = ids;
    this.#projector = projector;
    this.#statuses = { projection: depositStatus, view: projector.add(depositStatus) };
    this.#contents = { projection: depositContent, view: projector.add(depositContent) };
    this.#objects = projector.add(loadedObjects);
    this.#queried = {
      statuses: projector.queriesOf(depositStatus.name),
      objects: projector.queriesOf(loadedObjects.name),
    };
  }

  /** How often views have been switched since the start. */
  get viewSwitches(): number {
    return this.#projector.switches;
  }

  /** The retries of one request, which begins now. */
  retries(): OutageRetries {
    return new OutageRetries(this.#limits);
  }

  /**
   * Reads the status of any client's deposit; `undefined` if it does not exist. `atLeast` is a revision that it is
   * known to have, such as that of a write: what is older is no answer then.
   * @throws {EventLogUnavailable} only what is older can be read.
   */
  status(
    depositId: number,
    atLeast?: number,
    retries = this.retries(),
  ): Promise<DepositStatusView | undefined> {
    if (atLeast === undefined) return this.#reads.present(this.#statuses, depositId);
    return this.#reads.atLeast(this.#statuses, depositId, atLeast, retries);
  }

  /** Reads as {@link status} does. */
  content(
    depositId: number,
    atLeast?: number,
    retries = this.retries(),
  ): Promise<DepositContentView | undefined> {
    if (atLeast === undefined) return this.#reads.present(this.#contents, depositId);
    return this.#reads.atLeast(this.#contents, depositId, atLeast, retries);
  }

  /** What tells at once, from now on, whether this is still the status; `undefined` where only the log knows. */
  statusStays(shown: DepositStatusView): (() => boolean) | undefined {
    return this.#reads.stays(this.#statuses, shown);
  }

  /** The same of the content. */
  contentStays(shown: DepositContentView): (() => boolean) | undefined {
    return this.#reads.stays(this.#contents, shown);
  }

  /** A page of a client's deposits, as far as the views of this node have got. */
  list(query: DepositQuery): DepositPage {
    return depositPage(this.#statuses.view, query);
  }

  /** Whether a deposit of the client from this origin is done; the answer is never behind what any node has told. */
  hasLoaded(client: string, origin: string): Promise<boolean> {
    return isLoadedOrigin(
      { client, origin },
      this.#statuses.view,
      this.#queried.statuses.position,
      this.#log,
    );
  }

  /** Whether a deposit of the client that is done has all these; the answer is never behind what any node has told. */
  hasLoadedObject(client: string, conditions: DepositConditions): Promise<boolean> {
    return isLoadedObject(client, conditions, this.#objects, this.#queried.objects.position, this.#log);
  }

  /** Of any client's deposit, as it was at a revision. */
  statement(depositId: number, revision: number): Promise<DepositStatementView | undefined> {
    return this.#reads.at(depositStatement, depositId, revision, this.retries());
  }

  /** At most `limit` events of a deposit from a revision on, oldest first. */
  history(depositId: number, from: number, limit: number): Promise<RecordedEvent[]> {
    return Array.fromAsync(this.#reads.events(depositId, { from, limit }));
  }

  /**
   * `command` is made for the id that the deposit gets, once everything else is settled. `keyed` records the
   * request first, for an id that is handed to it, and tells what it is to do; `undefined` when it has no key.
   */
  async create(
    command: (depositId: number, uuid: string, now: string) => CreateDeposit | DepositMetadata,
    requestId: string,
    keyed: (newId: () => Promise<number>) => Promise<KeyedRequest | undefined>,
    retries = this.retries(),
  ): Promise<{ readonly depositId: number; readonly revision: number }> {
    const newId = () => this.#ids.next(retries.since);
    const request = (await keyed(newId)) ?? unkeyed(await newId(), requestId);
    const { depositId, uuid, now } = request;
    const creation = command(depositId, uuid, now);
    const context = contextOf({ kind: 'client', name: creation.client }, request, now);
    const { revision } = await this.#shown(
      await execute(this.#log, deposits, depositId, creation, context, { fresh: true, retries }),
    );
    return { depositId, revision };
  }

  /**
   * `command` is made for the moment at which it happens; with `atRevision` only the deposit as it was then.
   */
  async change(
    depositId: number,
    command: (now: string) => DepositCommand,
    client: string,
    request: Carried,
    options: Pick<ExecuteOptions, 'atRevision' | 'retries'>,
  ): Promise<Outcome<Deposit, DepositEvent>> {
    const [now, retries] = [clock.date().toISOString(), this.retries()];
    const context = contextOf({ kind: 'client', name: client }, request, now);
    const { once } = request;
    return this.#shown(
      await execute(this.#log, deposits, depositId, command(now), context, { retries, ...options, once }),
    );
  }

  /** Changes nothing. @throws what {@link change} would throw at present. */
  assertPossible(
    depositId: number,
    command: (now: string) => DepositCommand,
    options: Pick<ExecuteOptions, 'atRevision' | 'retries'>,
  ): Promise<void> {
    return assertPossible(this.#log, deposits, depositId, [command(clock.date().toISOString())], options);
  }

  /** Whether the request has changed the deposit already. */
  async hasDone({ depositId, commandId }: KeyedRequest): Promise<boolean> {
    return (await carriedOut(this.#log, deposits, depositId, commandId)) !== undefined;
  }

  /** Of any client's deposit, as it was at a revision. */
  contentAt(
    depositId: number,
    revision: number,
    retries = this.retries(),
  ): Promise<DepositContentView | undefined> {
    return this.#reads.at(depositContent, depositId, revision, retries);
  }

  /** The last event of a deposit that is known here; `undefined` when there is none. */
  get lastSeen(): SeenEvent | undefined {
    return this.#projector.lastSeenBy(depositStatus.name);
  }

  /** The deposit that a request has changed after an event, or at all where the log does not have that there. */
  async changedBy(requestId: string, after: SeenEvent | undefined): Promise<number | undefined> {
    const isKnown = after !== undefined && (await this.#projector.knows(after));
    const query = { after: isKnown ? after.position : undefined, streamPrefixes: [deposits.prefix] };
    for await (const { stream, metadata } of this.#log.readAll(query)) {
      if (metadata['$correlationId'] === requestId) return Number(stream.slice(deposits.prefix.length));
    }
    return undefined;
  }

  /** Whether the log has it that a deposit of the client was given these bytes; an older one that was restored may not. */
  async wasGiven(depositId: number, client: string, sha256: string): Promise<boolean> {
    for await (const stored of this.#reads.events(depositId)) {
      const { type, data } = deposits.codec.read(stored);
      if (type === 'DepositCreated' && data.client !== client) return false;
      if ('archive' in data && data.archive.sha256 === sha256) return true;
    }
    return false;
  }

  async #shown(outcome: Outcome<Deposit, DepositEvent>): Promise<Outcome<Deposit, DepositEvent>> {
    await this.#projector.passed(outcome.position, VIEW_PATIENCE);
    return outcome;
  }
}

function unkeyed(depositId: number, requestId: string): Omit<KeyedRequest, 'fingerprint'> {
  return { commandId: requestId, depositId, uuid: random.uuid(), now: clock.date().toISOString(), requestId };
}

function contextOf(
  actor: Actor,
  { commandId, requestId }: Pick<KeyedRequest, 'commandId' | 'requestId'>,
  now: string,
): CommandContext {
  return { commandId, actor, now, correlationId: requestId };
}
