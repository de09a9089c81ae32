import type { ClusterTimes } from './cluster/cluster.ts';
import type { User } from './services/access-control.ts';

export type DoubleOptions = {
  /** The port of the first node; 0: any free one. */
  readonly port?: number;
  /** The ports of the nodes, which also say how many there are. */
  readonly ports?: readonly number[];
  /** The number of nodes, each on a free port but for the first; 1 when left out. */
  readonly nodes?: number;
  /** Servers before 23.10 send no `caughtUp`. */
  readonly sendsCaughtUp?: boolean;
  readonly version?: string;
  /** The log is in this file, instead of memory, and goes on from what is there. */
  readonly file?: string;
  /** A dump whose events are the first ones of a log that is empty. */
  readonly load?: string;
  /** Encrypts connections with this certificate and its key. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The users by name. Clients send their names only over TLS. Without any, every client may do everything. */
  readonly users?: Readonly<Record<string, User>>;
  /** Whether messages are compressed where the client accepts it, as real servers do. */
  readonly compresses?: boolean;
  /** The time between two looks of a group at its time-outs and its checkpoint; 1000 on a real server. */
  readonly tickMs?: number;
  /** The time between an event that comes in and its push to a consumer. */
  readonly pushDelayMs?: number;
  readonly times?: ClusterTimes;
};
