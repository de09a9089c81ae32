import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
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
import type { EventLog, ReadStreamOptions, RecordedEvent } from '../event-log/event-log.ts';
import { type KeyedRequest, KeyedRequests } from '../keyed-requests.ts';
import { foldStream } from '../read-models/fold.ts';
import type { Projection } from '../read-models/projection.ts';
import type { Projector, View } from '../read-models/projector.ts';
import type { DepositConditions } from '../resolving/deposit-conditions.ts';
import type { SeenEvent } from '../uploads/upload-record.ts';
import { type DepositPage, type DepositQuery, depositPage } from './answering/deposit-page.ts';
import { isLoadedObject, isLoadedOrigin } from './receiving/is-loaded.ts';

/** How long a write waits for this node's views, in milliseconds; after it they are folded from the stream. */
const VIEW_PATIENCE = 2000;
/** How long a read waits for the log to say whether a view is current, in milliseconds. */
const CURRENT_PATIENCE = 1000;

type Revised = { readonly revision: number };

/** As whose part a command is carried out; `once`, however often it comes. */
export type Carried = Pick<KeyedRequest, 'commandId' | 'requestId'> & { readonly once: boolean };

/** Where requests meet the log: commands go in, and the views that answer come out, never older than the write. */
export class DepositDesk {
  readonly #log: EventLog;
  readonly #ids: DepositIds;
  readonly #projector: Projector;
  readonly #statuses: View<DepositStatusView>;
  readonly #contents: View<DepositContentView>;
  readonly #objects: View<LoadedObjects>;
  /** How far the log is in what is found in each of them. */
  readonly #queried: Readonly<Record<'statuses' | 'objects', Pick<Projector, 'position'>>>;
  readonly #isShared: boolean;
  /** What requests with a key were to do. */
  readonly requests: KeyedRequests;

  /** @param isShared other nodes write to the log as well, so the views of this one may not have their writes yet. */
  constructor(log: EventLog, ids: DepositIds, projector: Projector, isShared: boolean) {
    this.#log = log;
    this.requests = new KeyedRequests(log);
    this.#isShared = isShared;
    this.#ids = ids;
    this.#projector = projector;
    this.#statuses = projector.add(depositStatus);
    this.#contents = projector.add(depositContent);
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

  /** Of any client's deposit; `undefined` when there is none of this id, or no more. */
  status(depositId: number): Promise<DepositStatusView | undefined> {
    return this.#read(depositStatus, this.#statuses, depositId);
  }

  /** Of any client's deposit; `undefined` when there is none of this id, or no more. */
  content(depositId: number): Promise<DepositContentView | undefined> {
    return this.#read(depositContent, this.#contents, depositId);
  }

  /** What tells at once, from now on, whether this is still the status; `undefined` where only the log knows. */
  statusStays(shown: DepositStatusView): (() => boolean) | undefined {
    return this.#stays(this.#statuses, shown);
  }

  /** The same of the content. */
  contentStays(shown: DepositContentView): (() => boolean) | undefined {
    return this.#stays(this.#contents, shown);
  }

  /** A page of a client's deposits, as far as the views of this node have got. */
  list(query: DepositQuery): DepositPage {
    return depositPage(this.#statuses, query);
  }

  /** Whether a deposit of the client from this origin is done; the answer is never behind what any node has told. */
  hasLoaded(client: string, origin: string): Promise<boolean> {
    return isLoadedOrigin({ client, origin }, this.#statuses, this.#queried.statuses.position, this.#log);
  }

  /** Whether a deposit of the client that is done has all these; the answer is never behind what any node has told. */
  hasLoadedObject(client: string, conditions: DepositConditions): Promise<boolean> {
    return isLoadedObject(client, conditions, this.#objects, this.#queried.objects.position, this.#log);
  }

  /** Of any client's deposit, as it was at a revision. */
  statement(depositId: number, revision: number): Promise<DepositStatementView | undefined> {
    return foldStream(depositStatement, this.#events(depositId, { limit: revision + 1 }));
  }

  /** At most `limit` events of a deposit from a revision on, oldest first. */
  history(depositId: number, from: number, limit: number): Promise<RecordedEvent[]> {
    return Array.fromAsync(this.#events(depositId, { from, limit }));
  }

  /**
   * `command` is made for the id that the deposit gets, once everything else is settled. `keyed` records the
   * request first, for an id that is handed to it, and tells what it is to do; `undefined` when it has no key.
   */
  async create(
    command: (depositId: number, uuid: string, now: string) => CreateDeposit | DepositMetadata,
    requestId: string,
    keyed: (newId: () => Promise<number>) => Promise<KeyedRequest | undefined>,
  ): Promise<{ readonly depositId: number; readonly revision: number }> {
    const newId = () => this.#ids.next();
    const request = (await keyed(newId)) ?? unkeyed(await newId(), requestId);
    const { depositId, uuid, now } = request;
    const creation = command(depositId, uuid, now);
    const context = contextOf({ kind: 'client', name: creation.client }, request, now);
    const { revision } = await this.#shown(
      await execute(this.#log, deposits, depositId, creation, context, { fresh: true }),
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
    options: Pick<ExecuteOptions, 'atRevision'>,
  ): Promise<Outcome<Deposit, DepositEvent>> {
    const now = new Date().toISOString();
    const context = contextOf({ kind: 'client', name: client }, request, now);
    const { once } = request;
    return this.#shown(
      await execute(this.#log, deposits, depositId, command(now), context, { ...options, once }),
    );
  }

  /** Changes nothing. @throws what {@link change} would throw at present. */
  assertPossible(
    depositId: number,
    command: (now: string) => DepositCommand,
    options: Pick<ExecuteOptions, 'atRevision'>,
  ): Promise<void> {
    return assertPossible(this.#log, deposits, depositId, [command(new Date().toISOString())], options);
  }

  /** Whether the request has changed the deposit already. */
  async hasDone({ depositId, commandId }: KeyedRequest): Promise<boolean> {
    return (await carriedOut(this.#log, deposits, depositId, commandId)) !== undefined;
  }

  /** Of any client's deposit, as it was at a revision. */
  contentAt(depositId: number, revision: number): Promise<DepositContentView | undefined> {
    return foldStream(depositContent, this.#events(depositId, { limit: revision + 1 }));
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
    for await (const stored of this.#events(depositId)) {
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

  /**
   * A view that is missing or old here may only be late: the stream knows. While the log cannot be reached, the
   * view is better than nothing.
   */
  async #read<Type extends Revised>(
    projection: Projection<Type, DepositEvent>,
    view: View<Type>,
    depositId: number,
  ): Promise<Type | undefined> {
    const shown = view.get(String(depositId));
    const hasAll = !this.#isShared && this.#projector.trouble === undefined;
    if (shown && (hasAll || (await this.#isCurrent(shown, depositId)))) return shown;
    return foldStream(projection, this.#events(depositId));
  }

  #stays<Type extends Revised & { readonly depositId: number }>(
    view: View<Type>,
    shown: Type,
  ): (() => boolean) | undefined {
    const [key, { revision }, switches] = [String(shown.depositId), shown, this.viewSwitches];
    if (this.#isShared || !isDeepStrictEqual(view.get(key), shown)) return undefined;
    return () => this.viewSwitches === switches && view.get(key)?.revision === revision;
  }

  async #isCurrent({ revision }: Revised, depositId: number): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(CURRENT_PATIENCE);
      const [last] = await Array.fromAsync(this.#events(depositId, { backwards: true, limit: 1, signal }));
      return last === undefined || last.revision <= revision;
    } catch {
      return true;
    }
  }

  #events(depositId: number, options: ReadStreamOptions = {}): AsyncIterable<RecordedEvent> {
    return this.#log.readStream(`${deposits.prefix}${depositId}`, options);
  }
}

function unkeyed(depositId: number, requestId: string): Omit<KeyedRequest, 'fingerprint'> {
  return { commandId: requestId, depositId, uuid: randomUUID(), now: new Date().toISOString(), requestId };
}

function contextOf(
  actor: Actor,
  { commandId, requestId }: Pick<KeyedRequest, 'commandId' | 'requestId'>,
  now: string,
): CommandContext {
  return { commandId, actor, now, correlationId: requestId };
}
