import { type Cluster, elapse, type Milliseconds } from './cluster.ts';
import type { ClusterNode } from './cluster-node.ts';

export type LeaderLost = {
  readonly electionMs?: Milliseconds;
  /** For how long the former leader goes on as if it led, once another node does. */
  readonly staleMs?: Milliseconds;
};

/** `keep`: appends that were not replicated are committed in the end; `truncate`: they are gone. */
export type QuorumLost = {
  readonly ms: number;
  readonly fate: 'keep' | 'truncate';
  /** After this time without a quorum the leader resigns, and nothing leads. */
  readonly resignMs?: number;
  readonly electionMs?: Milliseconds;
  /** The ids of the appends leave the leader's cache at once: it refuses their repetition. */
  readonly forgets?: boolean;
};

/** Faults of whole nodes and of the network between them. Each resolves when the cluster is whole again, as far as it gets. */
export class ClusterFaults {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The leader's process is killed; alone, it is started again. `returnMs`: when it is back, after the election. */
  async killLeader({
    electionMs,
    returnMs,
  }: LeaderLost & { readonly returnMs?: number } = {}): Promise<void> {
    const killed = this.#leader();
    killed.close();
    this.#cluster.loseLeader(killed);
    await elapse(electionMs ?? this.#cluster.times.electionMs);
    if (this.#cluster.nodes.length === 1) return this.#cluster.listen();
    this.#cluster.elect();
    if (returnMs === undefined) return;
    await elapse(returnMs);
    await this.#cluster.listen();
  }

  /**
   * The leader no longer reaches the other nodes, but clients reach all of them. The others elect one of them. Until
   * the former leader notices, it answers reads with what it had, and appends to it are never committed.
   */
  async partition({ electionMs, staleMs }: LeaderLost = {}): Promise<void> {
    const former = this.#leader();
    this.#assertOthers();
    former.loseOthers({ isolated: true });
    this.#cluster.loseLeader(former);
    await elapse(electionMs ?? this.#cluster.times.electionMs);
    this.#cluster.elect();
    await this.#notice(former, staleMs);
  }

  /** No append is committed. Reads go on, without what was appended; appends behind it are refused. */
  async loseQuorum({
    ms,
    fate,
    resignMs = Number.POSITIVE_INFINITY,
    electionMs = 0,
    forgets = false,
  }: QuorumLost): Promise<void> {
    const leader = this.#leader();
    leader.loseOthers({ isolated: false, forgets });
    this.#cluster.loseLeader(leader);
    await elapse(Math.min(ms, resignMs));
    if (resignMs < ms) {
      leader.resign();
      await elapse(ms - resignMs);
    }
    if (fate === 'truncate') leader.resign();
    await leader.rejoin(fate);
    if (leader.role === 'leader') return this.#cluster.settle();
    await elapse(electionMs);
    this.#cluster.elect(fate === 'keep' ? leader : undefined);
  }

  /**
   * The process of the leader is stopped and woken. When that takes longer than an election, another node leads then,
   * and for some time the former one answers as if it still led.
   */
  async pauseLeader({ ms, electionMs, staleMs }: LeaderLost & { readonly ms: number }): Promise<void> {
    const former = this.#leader();
    const { times, nodes } = this.#cluster;
    const election = electionMs ?? times.electionMs;
    const longest = typeof election === 'number' ? election : election[1];
    former.pause();
    if (nodes.length === 1 || ms <= longest) {
      await elapse(ms);
      return former.resume();
    }
    former.loseOthers({ isolated: true });
    this.#cluster.loseLeader(former);
    await elapse(longest);
    this.#cluster.elect();
    await elapse(ms - longest);
    former.resume();
    await this.#notice(former, staleMs);
  }

  async #notice(former: ClusterNode, staleMs: Milliseconds | undefined): Promise<void> {
    await elapse(staleMs ?? this.#cluster.times.staleMs);
    former.resign();
    await former.rejoin('truncate');
    this.#cluster.settle();
  }

  #leader(): ClusterNode {
    const { leader } = this.#cluster;
    if (!leader) throw new Error('No node leads.');
    return leader;
  }

  #assertOthers(): void {
    if (this.#cluster.nodes.length < 2) throw new Error('A partition needs a cluster of several nodes.');
  }
}
