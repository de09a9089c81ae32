import { type Actor, type CommandContext, execute, type Loaded, load } from './command-handler.ts';
import { clients, collections, deposits, notifications, parkings } from './domain/aggregates.ts';
import { type ClientCommand, ClientRefusal } from './domain/client/client.ts';
import type { CollectionCommand } from './domain/collection/collection.ts';
import type { DepositCommand, RetryChecks, RetryLoading } from './domain/deposit/commands.ts';
import type { NotificationsCommand } from './domain/notifications/notifications.ts';
import type { ParkedEvent, Parking, ParkingCommand } from './domain/parking/parking.ts';
import type { EventLog } from './event-log/event-log.ts';
import { credentialOf } from './password.ts';
import { clock } from './tools/clock.ts';
import { random } from './tools/random.ts';

/** What an operator does: each step a command, so each an event that names the operator. */
export class Administration {
  readonly #log: EventLog;
  readonly #actor: Actor;

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
   * Keeps the same password at today's costs, unless it was changed after `credentialRevision`.
   * @throws {RevisionNotMatched} somebody else changed the client at the same moment.
   */
  async renewPassword(client: string, password: string, credentialRevision: number): Promise<void> {
    const credential = await credentialOf(password);
    let [kept, atRevision] = [-1, -1];
    for await (const { type, revision } of this.#log.readStream(`${clients.prefix}${client}`)) {
      if (type === 'ClientRegistered' || type === 'CredentialChanged') kept = revision;
      atRevision = revision;
    }
    if (kept !== credentialRevision) return;
    const command = { type: 'ChangeCredential', client, credential } as const;
    await execute(this.#log, clients, client, command, this.#context(), { atRevision });
  }

  /** Tells whether anything changed. */
  async client(command: ClientCommand): Promise<boolean> {
    const { events } = await execute(this.#log, clients, command.client, command, this.#context());
    return events.length > 0;
  }

  /** Tells whether anything changed. */
  async collection(command: CollectionCommand): Promise<boolean> {
    const { events } = await execute(this.#log, collections, command.collection, command, this.#context());
    return events.length > 0;
  }

  /** Tells whether anything changed. With `atRevision` only the deposit as it was then. */
  async deposit(
    depositId: number,
    command: DepositCommand,
    options: { readonly atRevision?: number } = {},
  ): Promise<boolean> {
    const { events } = await execute(this.#log, deposits, depositId, command, this.#context(), options);
    return events.length > 0;
  }

  /** Has a deposit checked or loaded again. Resolves to the event that was appended, and the attempt that it begins. */
  async retry(
    depositId: number,
    command: RetryChecks | RetryLoading,
  ): Promise<{ readonly event: 'ChecksRetried' | 'LoadingRetried'; readonly attempt: number }> {
    const { events } = await execute(this.#log, deposits, depositId, command, this.#context());
    for (const { type, data } of events)
      if (type === 'ChecksRetried' || type === 'LoadingRetried')
        return { event: type, attempt: data.attempt };
    throw new TypeError(`${command.type} of deposit ${depositId} appended no event.`); // decide refuses or appends
  }

  async notifications(command: NotificationsCommand): Promise<void> {
    await execute(this.#log, notifications, command.depositId, command, this.#context());
  }

  async parking(command: ParkingCommand): Promise<void> {
    await execute(this.#log, parkings, command.reactor, command, this.#context());
  }

  /** Yields each event when its reactor is going to try it again. What is parked is read once for all. */
  async *retryParked(reactor: string, parked: readonly ParkedEvent[]): AsyncGenerator<ParkedEvent> {
    let from: Loaded<Parking> | undefined;
    for (const event of parked) {
      const command = { type: 'RetryParked', reactor, eventId: event.eventId } as const;
      from = await execute(this.#log, parkings, reactor, command, this.#context(), { from });
      yield event;
    }
  }

  /** Grants a collection, opening it first if it does not exist yet; tells whether it was opened. */
  async grant(client: string, collection: string): Promise<{ readonly opened: boolean }> {
    const { state } = await load(this.#log, clients, client);
    if (state.status === 'unknown')
      throw new ClientRefusal('CLIENT_UNKNOWN', `There is no client ${client}.`);
    const { revision } = await load(this.#log, collections, collection);
    const opened = revision === 'none';
    if (opened) await this.collection({ type: 'OpenCollection', collection });
    await this.client({ type: 'GrantCollection', client, collection });
    return { opened };
  }

  #context(): CommandContext {
    const [commandId, correlationId] = [random.uuid(), random.uuid()];
    return { commandId, correlationId, actor: this.#actor, now: clock.date().toISOString() };
  }
}
