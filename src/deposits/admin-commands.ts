import {
  type Aggregate,
  clients,
  collections,
  deposits,
  notifications,
  parkings,
  people,
} from '../domain/aggregates.ts';
import { type Client, type ClientCommand, ClientRefusal, type Credential } from '../domain/client/client.ts';
import type { CollectionCommand } from '../domain/collection/collection.ts';
import { Refusal } from '../domain/decider.ts';
import type { Command, DepositCommand } from '../domain/deposit/commands.ts';
import type { NotificationsCommand } from '../domain/notifications/notifications.ts';
import {
  type ParkedEvent,
  type Parking,
  type ParkingCommand,
  ParkingRefusal,
} from '../domain/parking/parking.ts';
import type { PersonCommand } from '../domain/person/person.ts';
import type { EventLog, Position } from '../event-log/event-log.ts';
import { credentialOf } from '../tools/cryptography/password.ts';
import {
  type Actor,
  type HandleOptions,
  handleCommand,
  newContext,
  type Outcome,
  readState,
} from './command-handler.ts';
import type { StreamState } from './stream-state.ts';

/** Commands of an operator. Each step is a command, so that each of its events names the operator. */
export class AdminCommands {
  readonly #log: EventLog;
  readonly #actor: Actor;
  /** The decisions about parked events as the last command left them, by reactor. */
  readonly #parkings = new Map<string, StreamState<Parking>>();
  #position: Position | undefined;

  constructor(log: EventLog, actor: Actor) {
    this.#log = log;
    this.#actor = actor;
  }

  async registerClient(client: string, password: string): Promise<void> {
    await this.client({ type: 'RegisterClient', client, credential: await credentialOf(password) });
  }

  async changePassword(client: string, password: string): Promise<void> {
    await this.client({ type: 'ChangeCredential', client, credential: await credentialOf(password) });
  }

  /**
   * Stores another digest of the same password, unless that was changed after `credentialRevision`.
   * @throws {RevisionNotMatched} another writer changed the client concurrently.
   */
  async renewPassword(client: string, credential: Credential, credentialRevision: number): Promise<void> {
    let [kept, atRevision] = [-1, -1];
    for await (const { type, revision } of this.#log.readStream(`${clients.prefix}${client}`)) {
      if (type === 'ClientRegistered' || type === 'CredentialChanged') kept = revision;
      atRevision = revision;
    }
    if (kept !== credentialRevision) return;
    const command = { type: 'ChangeCredential', client, credential } as const;
    await this.#handle(clients, client, command, { atRevision });
  }

  /** Returns whether anything changed. */
  async client(command: ClientCommand): Promise<boolean> {
    const { events } = await this.#handle(clients, command.client, command);
    return events.length > 0;
  }

  /** Returns the client as the command leaves it. */
  async clientAfter(command: ClientCommand): Promise<Client> {
    return (await this.#handle(clients, command.client, command)).state;
  }

  /** Returns whether anything changed. */
  async collection(command: CollectionCommand): Promise<boolean> {
    const { events } = await this.#handle(collections, command.collection, command);
    return events.length > 0;
  }

  /** Returns whether anything changed. `atRevision` requires the deposit to be at that revision. */
  async deposit(
    depositId: number,
    command: DepositCommand,
    options: { readonly atRevision?: number } = {},
  ): Promise<boolean> {
    const { events } = await this.#handle(deposits, depositId, command, options);
    return events.length > 0;
  }

  /** Requests a new check or load of a deposit. Resolves to the appended event and the attempt that it starts. */
  async retry(
    depositId: number,
    command: Command<'RetryChecks' | 'RetryLoading'>,
  ): Promise<{ readonly event: 'ChecksRetried' | 'LoadingRetried'; readonly attempt: number }> {
    const { events } = await this.#handle(deposits, depositId, command);
    for (const { type, data } of events)
      if (type === 'ChecksRetried' || type === 'LoadingRetried')
        return { event: type, attempt: data.attempt };
    throw new TypeError(`${command.type} of deposit ${depositId} appended no event.`); // `decide` refuses or appends
  }

  async notifications(command: NotificationsCommand): Promise<void> {
    await this.#handle(notifications, command.depositId, command);
  }

  /** Reads only later decisions than those of its last command: there may be thousands. */
  async parking(command: ParkingCommand): Promise<void> {
    const { reactor } = command;
    const from = await readState(this.#log, parkings, reactor, { from: this.#parkings.get(reactor) });
    this.#parkings.set(reactor, await this.#handle(parkings, reactor, command, { from }));
  }

  /** Resolves to the position of the last event of the person. */
  async person(command: PersonCommand): Promise<Position> {
    const { position } = await this.#handle(people, command.person, command);
    return position;
  }

  /**
   * Yields each event once its retry is recorded, except those that a node or another operator has decided about
   * meanwhile. Reads the stream of parked events once for all.
   */
  async *retryParked<Parked extends Pick<ParkedEvent, 'eventId'>>(
    reactor: string,
    parked: readonly Parked[],
  ): AsyncGenerator<Parked> {
    let from: StreamState<Parking> | undefined;
    for (const event of parked) {
      const command = { type: 'RetryParked', reactor, eventId: event.eventId } as const;
      try {
        from = await this.#handle(parkings, reactor, command, { from });
      } catch (error) {
        if (!(error instanceof ParkingRefusal)) throw error;
        from = await readState(this.#log, parkings, reactor, { from });
        continue;
      }
      yield event;
    }
  }

  /** Grants a collection, and opens it first if it does not exist. Returns whether it was opened. */
  async grant(client: string, collection: string): Promise<{ readonly opened: boolean }> {
    const { state } = await readState(this.#log, clients, client);
    if (state.status === 'unknown') throw new ClientRefusal('CLIENT_UNKNOWN', `Client ${client} not found.`);
    const opened = await this.#openUnlessOpen(collection);
    await this.client({ type: 'GrantCollection', client, collection });
    return { opened };
  }

  /** Resolves to `false` for a collection that exists, also if another operator opens it at the same time. */
  async #openUnlessOpen(collection: string): Promise<boolean> {
    try {
      return await this.collection({ type: 'OpenCollection', collection });
    } catch (error) {
      if (error instanceof Refusal && error.code === 'COLLECTION_EXISTS') return false;
      throw error;
    }
  }

  /** Position of the last event of the stream that a command left last; `undefined` before the first command. */
  get position(): Position | undefined {
    return this.#position;
  }

  async #handle<State, Command, Event extends { type: string; data: object }>(
    aggregate: Aggregate<State, Command, Event>,
    id: string | number,
    command: Command,
    options?: HandleOptions<State, Command>,
  ): Promise<Outcome<State, Event>> {
    const context = newContext(this.#actor);
    const outcome = await handleCommand(this.#log, aggregate, id, command, context, options);
    if (this.#position === undefined || this.#position < outcome.position) this.#position = outcome.position;
    return outcome;
  }
}
