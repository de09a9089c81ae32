import { type Client, type ClientCommand, type ClientEvent, clientDecider } from './client/client.ts';
import { type Codec, codec } from './codec.ts';
import {
  type Collection,
  type CollectionCommand,
  type CollectionEvent,
  collectionDecider,
} from './collection/collection.ts';
import type { Decider } from './decider.ts';
import { depositCodec } from './deposit/codec.ts';
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

/** A kind of stream: its name, its rules, and how its events are read. */
export type Aggregate<State, Command, Event> = {
  /** Of every stream name of this kind. */
  readonly prefix: string;
  readonly decider: Decider<State, Command, Event>;
  readonly codec: Codec<Event>;
};

export const deposits: Aggregate<Deposit, DepositCommand, DepositEvent> = {
  prefix: 'deposit-',
  decider: depositDecider,
  codec: depositCodec,
};

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

/** One a reactor, by its name. */
export const parkings: Aggregate<Parking, ParkingCommand, ParkingEvent> = {
  prefix: 'parked-',
  decider: parkingDecider,
  codec: codec<ParkingEvent>({ EventParked: [], ParkedRetried: [], ParkedSkipped: [] }),
};

/** One a deposit, by its id: what of its notifications did not go out at once. */
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
