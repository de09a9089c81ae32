import type { Incarnation } from '../world/host.ts';
import { world } from '../world/world.ts';
import { Appends } from './appends.ts';
import { ClusterNetwork } from './cluster-network.ts';
import { Groups } from './groups.ts';
import { type Connection, Leadership, type Unreplicated } from './leadership.ts';
import { Reads } from './reads.ts';
import { ServerLog } from './server-log.ts';
import { Subscriptions } from './subscriptions.ts';

export type Partition = {
  /** Milliseconds until the other side has a leader. */
  readonly election: number;
  /** Milliseconds from then on in which the old leader still answers. */
  readonly stale: number;
  readonly staysWithOld: (connection: Connection) => boolean;
  /** The old leader no longer recognises what it could not replicate. */
  readonly forgets: boolean;
};

export type QuorumLoss = {
  /** Milliseconds until the quorum is back. */
  readonly time: number;
  /** Appends are replicated then; else they are lost with the leader. */
  readonly isKept: boolean;
  /** The leader no longer recognises what it could not replicate. */
  readonly forgets: boolean;
  /** The quorum is back a moment after a repetition was rejected, if that is earlier. */
  readonly endsAtRejection: boolean;
};

/** About when the client reads why an append was rejected, in milliseconds after the rejection. */
const READ_AFTER_MS = [1, 8] as const;

/** A cluster of EventStoreDB or KurrentDB, seen through its leader, and its faults. */
export class Cluster {
  readonly log = new ServerLog();
  readonly #leadership = new Leadership();
  readonly #network: ClusterNetwork;
  readonly appends: Appends;
  readonly reads: Reads;
  readonly subscriptions: Subscriptions;
  readonly groups: Groups;
  /** Appends that were lost with their leader. */
  truncated = 0;

  /** @param lossOf the share of requests and answers of a process that are lost at the moment */
  constructor(lossOf: (process: Incarnation) => number) {
    const { log } = this;
    this.#network = new ClusterNetwork(this.#leadership, lossOf);
    this.reads = new Reads(log, this.#network);
    this.subscriptions = new Subscriptions(log, this.#network);
    this.groups = new Groups(log, this.#leadership, this.#network);
    this.appends = new Appends(log, this.#leadership, this.#network, (events) => {
      for (const event of events) this.groups.committed(event);
      this.subscriptions.committed();
    });
  }

  /** Kills the leader; another one leads after `election` milliseconds. Returns false if the cluster is not stable. */
  killLeader(election: number): boolean {
    if (!this.#leadership.isStable) return false;
    this.#elect(election);
    return true;
  }

  /**
   * Separates the leader from the others: it goes on to serve some clients with the log as it was. What is appended
   * there is lost.
   */
  partition({ election, stale, staysWithOld, forgets }: Partition): boolean {
    const leadership = this.#leadership;
    if (!leadership.isStable) return false;
    const upTo = this.log.last;
    const until = world().now + election + stale;
    const unreplicated = { appends: [], areForgotten: forgets, onRejection: () => undefined };
    const old = { epoch: leadership.epoch, hasSuccessor: false, upTo, until, unreplicated };
    leadership.old = old;
    this.#break((connection) => {
      connection.staysWithOld = connection.epoch === leadership.epoch && staysWithOld(connection);
      return !connection.staysWithOld;
    });
    this.subscriptions.isolate(upTo);
    this.groups.break(() => true);
    world().schedule(election, undefined, () => {
      world().note('fault', 'the other side has a leader');
      leadership.epoch += 1;
      old.hasSuccessor = true;
      this.groups.load();
      world().schedule(stale, undefined, () => this.#endPartition());
    });
    return true;
  }

  /** Appends wait for the quorum. */
  loseQuorum({ time, isKept, forgets, endsAtRejection }: QuorumLoss): boolean {
    const leadership = this.#leadership;
    if (!leadership.isStable) return false;
    const endIn = (delay: number): void => void world().schedule(delay, undefined, end);
    const onRejection = (): void => {
      if (endsAtRejection) endIn(world().networkRandom.between(...READ_AFTER_MS));
    };
    const unreplicated: Unreplicated = { appends: [], areForgotten: forgets, onRejection };
    const end = (): void => {
      if (leadership.unreplicated !== unreplicated) return;
      world().note('fault', 'the quorum is back');
      leadership.unreplicated = undefined;
      if (isKept) {
        this.appends.commitAll(unreplicated);
        return;
      }
      this.truncated += unreplicated.appends.length;
      this.#elect(world().networkRandom.between(200, 2000));
    };
    leadership.unreplicated = unreplicated;
    endIn(time);
    return true;
  }

  /** Closes the connections of a process that is dead. */
  closeConnectionsOf(process: Incarnation): void {
    process.isGone = true;
    this.#break((connection) => connection.process === process);
  }

  #elect(election: number): void {
    const leadership = this.#leadership;
    leadership.downUntil = world().now + election;
    leadership.epoch += 1;
    this.#break(() => true);
    world().schedule(election, undefined, () => {
      world().note('fault', 'a leader was elected');
      this.groups.load();
    });
  }

  #endPartition(): void {
    const { old } = this.#leadership;
    if (!old) return;
    world().note('fault', 'the old leader is gone');
    this.truncated += old.unreplicated.appends.length;
    this.#leadership.old = undefined;
    const isOld = (epoch: number | undefined): boolean => epoch !== undefined && epoch <= old.epoch;
    this.#network.break(({ epoch }) => isOld(epoch));
    this.groups.break(({ epoch }) => isOld(epoch));
    this.subscriptions.break(({ epoch }, begunIn) => isOld(epoch) || isOld(begunIn));
  }

  #break(isBroken: (connection: Connection) => boolean): void {
    this.#network.break(isBroken);
    this.subscriptions.break(isBroken);
    this.groups.break(isBroken);
  }
}
