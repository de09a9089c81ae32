import { clientFault } from './client-fault.ts';
import type { ClusterNetwork, ServerWork } from './cluster-network.ts';
import { Group } from './group.ts';
import type { Connection, Leadership } from './leadership.ts';
import type { LibraryStream } from './library-stream.ts';
import type { ServerLog } from './server-log.ts';
import { type LogPosition, positionOf, type StoredEvent } from './stored-event.ts';
import type { StreamFilter } from './subscriptions.ts';

export type GroupSettings = { readonly startFrom: 'start' | LogPosition };

/** The persistent subscriptions of the cluster. Only the leader has them. */
export class Groups {
  readonly all = new Map<string, Group>();
  readonly #log: ServerLog;
  readonly #leadership: Leadership;
  readonly #network: ClusterNetwork;

  constructor(log: ServerLog, leadership: Leadership, network: ClusterNetwork) {
    this.#log = log;
    this.#leadership = leadership;
    this.#network = network;
  }

  get forgotten(): string[] {
    return [...this.all.values()].flatMap(({ forgotten }) => forgotten);
  }

  create(
    connection: Connection,
    name: string,
    { startFrom }: GroupSettings,
    filter: StreamFilter | undefined,
  ): Promise<void> {
    return this.#network.request<void>(connection, { text: `create ${name}` }, (_side, answer, refuse) => {
      if (this.all.has(name)) {
        refuse(clientFault('persistent-subscription-exists'));
        return;
      }
      const start = startFrom === 'start' ? 0 : Number(startFrom.commit);
      const latency = (): number => this.#network.latency();
      this.all.set(name, new Group(this.#log, this.#leadership, { name, filter, start, latency }));
      answer();
    });
  }

  info(connection: Connection, name: string): Promise<unknown> {
    return this.#onLeader(connection, name, `info ${name}`, undefined, (group) => {
      const { outstanding, retries, buffered } = group.counts;
      const { checkpoint, consumers } = group;
      return {
        connections: consumers.map(({ connection: { connectionName }, availableSlots }) => ({
          connectionName,
          availableSlots,
        })),
        stats: {
          outstandingMessagesCount: outstanding,
          readBufferCount: buffered,
          retryBufferCount: retries,
          liveBufferCount: 0n,
          lastCheckpointedEventPosition: checkpoint === undefined ? undefined : positionOf(checkpoint),
        },
      };
    });
  }

  delete(connection: Connection, name: string): Promise<void> {
    return this.#onLeader(connection, name, `delete ${name}`, undefined, () => void this.all.delete(name));
  }

  connect(connection: Connection, name: string, size: number, out: LibraryStream): void {
    this.#onLeader(connection, name, `connect ${name}`, 'consume', (group) => {
      if (!out.isOver) group.connect(connection, size, out);
    }).then(
      () => out.emit('confirmation'),
      (error: Error) => {
        out.onClose(); // the server may have connected it
        out.fail(error);
      },
    );
  }

  committed(event: StoredEvent): void {
    for (const group of this.all.values()) group.committed(event);
  }

  load(): void {
    for (const group of this.all.values()) group.load();
  }

  break(isBroken: (connection: Connection) => boolean): void {
    for (const group of this.all.values()) group.break(isBroken);
  }

  #onLeader<Answer>(
    connection: Connection,
    name: string,
    text: string,
    call: 'consume' | undefined,
    work: (group: Group) => Answer,
  ): Promise<Answer> {
    const serve: ServerWork<Answer> = ({ old }, answer, refuse) => {
      const group = this.all.get(name);
      if (old) refuse(clientFault('not-leader'));
      else if (!group) refuse(clientFault('persistent-subscription-does-not-exist'));
      else answer(work(group));
    };
    return this.#network.request(connection, call ? { text, call } : { text }, serve);
  }
}
