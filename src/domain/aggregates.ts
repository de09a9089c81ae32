import { type Client, type ClientCommand, type ClientEvent, clientDecider } from './client/client.ts';
import { type Codec, codec } from './codec.ts';
import {
  type Collection,
  type CollectionCommand,
  type CollectionEvent,
  collectionDecider,
} from './collection/collection.ts';
import type { Decider } from './decider.ts';
import type { DepositCommand } from './deposit/commands.ts';
import { depositDecider } from './deposit/decide.ts';
import type { DepositEvent } from './deposit/events.ts';
import type { Deposit } from './deposit/state.ts';
import {
  type Notifications,
  type NotificationsCommand,
  type NotificationsEvent,
  notificationsDecider,
} from './notifications/notifications.ts';
import { type Parking, type ParkingCommand, type ParkingEvent, parkingDecider } from './parking/parking.ts';
import { type Person, type PersonCommand, type PersonEvent, personDecider } from './person/person.ts';

/** An aggregate: the prefix of its streams, its decider, and the codec of its events. */
export type Aggregate<State, Command, Event> = {
  /** Prefix of the names of all streams of this aggregate. */
  readonly prefix: string;
  readonly decider: Decider<State, Command, Event>;
  readonly codec: Codec<Event>;
};

export const deposits: Aggregate<Deposit, DepositCommand, DepositEvent> = {
  prefix: 'deposit-',
  decider: depositDecider,
  codec: codec<DepositEvent>({
    DepositCreated: [],
    ArchiveAdded: [],
    ArchivesReplaced: [],
    ArchivesRemoved: [],
    ArchiveReplaced: [],
    ArchiveRemoved: [],
    MetadataAdded: [],
    MetadataReplaced: [],
    DepositCompleted: [],
    DepositDeleted: [],
    DepositVerified: [],
    DepositRejected: [],
    CopyUnreadable: [],
    ChecksRetried: [],
    LoadingStarted: [],
    DepositLoaded: [],
    LoadingFailed: [],
    LoadingRetried: [],
    MetadataUpdated: [],
    MetadataDeposited: [],
  }),
};

/** Returns the id of the deposit of a stream; `null` if it is a stream of something else. */
export function depositOfStream(stream: string): number | null {
  return stream.startsWith(deposits.prefix) ? Number(stream.slice(deposits.prefix.length)) : null;
}

export const clients: Aggregate<Client, ClientCommand, ClientEvent> = {
  prefix: 'client-',
  decider: clientDecider,
  codec: codec<ClientEvent>({
    ClientRegistered: [],
    CredentialChanged: [],
    ClientDisabled: [],
    ClientEnabled: [],
    CollectionGranted: [],
    CollectionRevoked: [],
    DomainSet: [],
    ProviderUrlSet: [],
    WebhookSet: [],
    WebhookRemoved: [],
  }),
};

export const collections: Aggregate<Collection, CollectionCommand, CollectionEvent> = {
  prefix: 'collection-',
  decider: collectionDecider,
  codec: codec<CollectionEvent>({
    CollectionOpened: [],
    CollectionDescribed: [],
    PolicyChanged: [],
    AcceptedTypesChanged: [],
  }),
};

/** Parked events: one stream per reactor, named by the reactor. */
export const parkings: Aggregate<Parking, ParkingCommand, ParkingEvent> = {
  prefix: 'parked-',
  decider: parkingDecider,
  codec: codec<ParkingEvent>({ EventParked: [], ParkedRetried: [], ParkedSkipped: [] }),
};

/** Deliveries of notifications that failed at the first attempt: one stream per deposit, named by its id. */
export const notifications: Aggregate<Notifications, NotificationsCommand, NotificationsEvent> = {
  prefix: 'notifications-',
  decider: notificationsDecider,
  codec: codec<NotificationsEvent>({
    NotificationHeld: [],
    DeliveryTried: [],
    DeliveryFailed: [],
    NotificationsDelivered: [],
    NotificationsGivenUp: [],
    NotificationsRequeued: [],
  }),
};

/** People who may use the console: one stream per person, named by the person. */
export const people: Aggregate<Person, PersonCommand, PersonEvent> = {
  prefix: 'person-',
  decider: personDecider,
  codec: codec<PersonEvent>({
    PersonAdded: [],
    RoleChanged: [],
    PersonDisabled: [],
    PersonEnabled: [],
    SessionsEnded: [],
  }),
};

/** All aggregates: every event with rules belongs to one of them. */
export const aggregates = [deposits, clients, collections, notifications, parkings, people] as const;
