import { clientFault } from './client-fault.ts';
import type { ClusterNetwork } from './cluster-network.ts';
import type { Connection } from './leadership.ts';
import type { LibraryStream } from './library-stream.ts';
import type { ServerLog } from './server-log.ts';
import type { LogPosition, StoredEvent } from './stored-event.ts';

export type ReadStreamOptions = {
  readonly maxCount: number | bigint;
  readonly direction?: 'forwards' | 'backwards';
  readonly fromRevision?: 'start' | 'end' | bigint;
};

export type ReadAllOptions = {
  readonly maxCount: number | bigint;
  readonly direction?: 'forwards' | 'backwards';
  readonly fromPosition?: 'start' | 'end' | LogPosition;
};

/** Reads of the leader, or of one that was deposed and shows the log as it was. */
export class Reads {
  readonly #log: ServerLog;
  readonly #network: ClusterNetwork;

  constructor(log: ServerLog, network: ClusterNetwork) {
    this.#log = log;
    this.#network = network;
  }

  stream(connection: Connection, name: string, options: ReadStreamOptions, out: LibraryStream): void {
    const { maxCount, direction = 'forwards', fromRevision } = options;
    this.#read(connection, `read ${name}`, Number(maxCount), out, (upTo) => {
      const stored = this.#log.stream(name, upTo);
      if (stored.length === 0) return clientFault('stream-not-found');
      if (direction === 'backwards')
        return stored
          .slice(0, typeof fromRevision === 'bigint' ? Number(fromRevision) + 1 : undefined)
          .toReversed();
      return stored.slice(typeof fromRevision === 'bigint' ? Number(fromRevision) : 0);
    });
  }

  all(connection: Connection, options: ReadAllOptions, out: LibraryStream): void {
    const { maxCount, direction = 'forwards', fromPosition } = options;
    const bound = typeof fromPosition === 'object' ? Number(fromPosition.commit) : undefined;
    this.#read(connection, 'read $all', Number(maxCount), out, (upTo) => {
      const seen = this.#log.events.filter(({ number }) => number <= upTo);
      if (direction === 'backwards')
        return seen.filter(({ number }) => number < (bound ?? Infinity)).toReversed();
      return seen.filter(({ number }) => number >= (bound ?? 0));
    });
  }

  #read(
    connection: Connection,
    text: string,
    count: number,
    out: LibraryStream,
    select: (upTo: number) => readonly StoredEvent[] | Error,
  ): void {
    this.#network
      .request<readonly StoredEvent[]>(connection, { text, call: 'read' }, ({ old }, answer, refuse) => {
        const found = select(old?.upTo ?? Infinity);
        if (found instanceof Error) refuse(found);
        else answer(found.slice(0, count));
      })
      .then(
        (events) => out.end(events.map((event) => ({ event }))),
        (error: Error) => out.fail(error),
      );
  }
}
