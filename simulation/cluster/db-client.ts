/** Stands in for `@eventstore/db-client`: the exports that the adapter uses, on the cluster of the current history. */

import { currentSite } from '../current-site.ts';
import { type Incarnation, running } from '../world/host.ts';
import type { ExpectedVersion } from './appends.ts';
import type { GroupSettings } from './groups.ts';
import type { Connection } from './leadership.ts';
import { LibraryStream } from './library-stream.ts';
import type { ReadAllOptions, ReadStreamOptions } from './reads.ts';
import type { LogPosition, NewEvent } from './stored-event.ts';
import type { StreamFilter } from './subscriptions.ts';

export const START = 'start';
export const PINNED = 'Pinned';
export const jsonEvent = (event: NewEvent): NewEvent => event;
export const streamNameFilter = (filter: StreamFilter): StreamFilter => filter;
export const persistentSubscriptionToAllSettingsFromDefaults = (settings: GroupSettings): GroupSettings =>
  settings;

export class EventStoreDBClient implements Connection {
  readonly process = running.getStore() as Incarnation; // only processes have clients
  readonly #site = currentSite();
  readonly connectionName = `connection-${this.#site.nextNumber()}`;
  epoch: number | undefined;
  staysWithOld = false;
  isDisposed = false;
  readonly #subscriptions = new Set<LibraryStream>();

  static connectionString(): EventStoreDBClient {
    return new EventStoreDBClient();
  }

  // Replaced by the adapter, which looks them up.
  readonly getGRPCClient = async (): Promise<undefined> => undefined;
  readonly handleError = async (): Promise<undefined> => undefined;
  readonly createChannel = async () => ({ close: () => undefined });

  appendToStream(
    stream: string,
    events: readonly NewEvent[],
    { expectedRevision }: { readonly expectedRevision: ExpectedVersion },
  ): Promise<unknown> {
    return this.#site.cluster.appends.append(this, stream, events, expectedRevision);
  }

  readStream(stream: string, options: ReadStreamOptions): LibraryStream {
    const out = new LibraryStream(this.process);
    this.#site.cluster.reads.stream(this, stream, options, out);
    return out;
  }

  readAll(options: ReadAllOptions): LibraryStream {
    const out = new LibraryStream(this.process);
    this.#site.cluster.reads.all(this, options, out);
    return out;
  }

  subscribeToAll(options: { readonly fromPosition: 'start' | LogPosition; readonly filter?: StreamFilter }) {
    const out = this.#subscription();
    this.#site.cluster.subscriptions.begin(this, options.fromPosition, options.filter, out);
    return out;
  }

  createPersistentSubscriptionToAll(
    group: string,
    settings: GroupSettings,
    { filter }: { readonly filter?: StreamFilter },
  ): Promise<void> {
    return this.#site.cluster.groups.create(this, group, settings, filter);
  }

  subscribeToPersistentSubscriptionToAll(group: string, { bufferSize }: { readonly bufferSize: number }) {
    const out = this.#subscription();
    this.#site.cluster.groups.connect(this, group, bufferSize, out);
    return out;
  }

  getPersistentSubscriptionToAllInfo(group: string): Promise<unknown> {
    return this.#site.cluster.groups.info(this, group);
  }

  deletePersistentSubscriptionToAll(group: string): Promise<void> {
    return this.#site.cluster.groups.delete(this, group);
  }

  async dispose(): Promise<void> {
    this.isDisposed = true;
    for (const subscription of this.#subscriptions) subscription.destroy();
  }

  #subscription(): LibraryStream {
    const out = new LibraryStream(this.process);
    this.#subscriptions.add(out);
    return out;
  }
}
