import { setTimeout } from 'node:timers/promises';
import type { ConsumerGroups } from '../groups/consumer-groups.ts';
import type { StoredLog } from '../storage/stored-log.ts';
import { ClusterNode, type NodeOptions } from './cluster-node.ts';

export type Milliseconds = number | readonly [least: number, most: number];

/** How long things take in a cluster, in milliseconds. A range stands for a random time in it. */
export type ClusterTimes = {
  /** From the loss of a leader until another node leads. */
  readonly electionMs?: Milliseconds;
  /** For how long a leader that lost its place still answers, after another one leads. */
  readonly staleMs?: Milliseconds;
  /** After this time an append that is not replicated is answered with a time-out. */
  readonly commitTimeoutMs?: number;
};

const TIMES = { electionMs: [300, 4000], staleMs: 400, commitTimeoutMs: 2000 } as const;

/** Servers with one committed log, of which one leads. */
export class Cluster {
  readonly nodes: readonly ClusterNode[];
  readonly times: Required<ClusterTimes>;
  #last: ClusterNode;

  constructor(
    log: StoredLog,
    {
      ports,
      times,
      node,
    }: { readonly ports: readonly number[]; readonly times: ClusterTimes; readonly node: NodeOptions },
  ) {
    this.times = { ...TIMES, ...times };
    this.nodes = ports.map((port) => new ClusterNode(log, port, node));
    this.#last = this.nodes[0] as ClusterNode;
  }

  /** Returns the node that the majority follows, or undefined while nothing leads. */
  get leader(): ClusterNode | undefined {
    return this.#last.role === 'leader' && !this.#last.isCutOff ? this.#last : undefined;
  }

  /** Returns the node to which this one forwards appends: itself, if it leads. */
  writer(node: ClusterNode): ClusterNode | undefined {
    return node.role === 'leader' ? node : this.leader;
  }

  /** Returns the groups of the node that leads, or led last. */
  get groups(): ConsumerGroups {
    return this.#last.groups as ConsumerGroups;
  }

  /** Opens every port. The node that led last leads. */
  async listen(): Promise<void> {
    for (const node of this.nodes) await node.listen();
    if (this.leader) this.settle();
    else this.elect(this.#last);
  }

  /** Nodes that are there follow the leader, if there is one. */
  settle(): void {
    const { leader } = this;
    if (!leader) return;
    for (const node of this.nodes) if (node !== leader && node.canVote) node.role = 'follower';
  }

  close(): void {
    for (const node of this.nodes) node.close();
  }

  /** Makes a node the leader, the next one in turn unless it is named. Without a majority nothing leads. */
  elect(candidate = this.#nextInTurn()): void {
    const voters = this.nodes.filter(({ canVote }) => canVote);
    if (!candidate?.canVote || voters.length * 2 <= this.nodes.length) return;
    this.#last = candidate;
    candidate.lead();
    this.settle();
  }

  /** Nodes other than this one have no leader until there is another. */
  loseLeader(leader: ClusterNode): void {
    for (const node of this.nodes) if (node !== leader) node.role = 'unknown';
  }

  #nextInTurn(): ClusterNode | undefined {
    const index = this.nodes.indexOf(this.#last);
    const others = [...this.nodes.slice(index + 1), ...this.nodes.slice(0, index + 1)];
    return others.find(({ canVote }) => canVote);
  }
}

/** Resolves after the time, or after a random one in the range. */
export async function elapse(time: Milliseconds): Promise<void> {
  const [least, most] = typeof time === 'number' ? [time, time] : time;
  await setTimeout(least + Math.random() * (most - least));
}
