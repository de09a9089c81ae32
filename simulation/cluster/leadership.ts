import type { Incarnation } from '../world/host.ts';
import { world } from '../world/world.ts';
import type { NewEvent, StoredEvent } from './stored-event.ts';

/** The state of one client object of the library. Each has connections of its own. */
export type Connection = {
  readonly process: Incarnation;
  readonly connectionName: string;
  /** The leadership it is connected to; `undefined` before its next call has found the leader. */
  epoch: number | undefined;
  /** True for a client that remains on the side of the old leader in a partition. */
  staysWithOld: boolean;
  isDisposed: boolean;
};

/** An append that is not replicated, so that no read shows it. */
export type PendingAppend = {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly answer: (last: StoredEvent) => void;
};

/** The appends that a leader could not replicate. */
export type Unreplicated = {
  readonly appends: PendingAppend[];
  /** True if the ids of these appends have left the leader's cache, so that it recognises no repetition of them. */
  readonly areForgotten: boolean;
  /** Called when a repetition is rejected. */
  readonly onRejection: () => void;
};

/** A leader that was deposed by a partition, and does not know it. */
export type OldLeader = {
  readonly epoch: number;
  /** True once the other side of the partition has a leader. */
  hasSuccessor: boolean;
  /** The last event it has. */
  readonly upTo: number;
  readonly until: number;
  readonly unreplicated: Unreplicated;
};

/** The node that serves a call: the leader, or one that was deposed. */
export type Side = { readonly old: OldLeader | undefined };

/** Which node leads the cluster, and whether it has a quorum. */
export class Leadership {
  epoch = 1;
  /** No node leads before this time. */
  downUntil = 0;
  old: OldLeader | undefined;
  /** The appends without a quorum; `undefined` while there is one. */
  unreplicated: Unreplicated | undefined;

  /** True if the cluster is in order, so that a fault may begin. */
  get isStable(): boolean {
    return !this.old && !this.unreplicated && this.downUntil <= world().now;
  }

  /** True if one leader is known to all clients that do not stay with an old one. */
  get hasLeader(): boolean {
    return this.downUntil <= world().now && (!this.old || this.old.hasSuccessor);
  }

  /** Returns who answers a call on this connection; `undefined` if no node does. */
  sideOf({ epoch, staysWithOld }: Connection): Side | undefined {
    if (epoch === this.epoch && this.hasLeader) return { old: undefined };
    const { old } = this;
    const isOld = old !== undefined && epoch === old.epoch && staysWithOld && world().now < old.until;
    return isOld ? { old } : undefined;
  }
}
