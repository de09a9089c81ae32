import type { ArchiveKind } from '../archives/archive-workers.ts';
import type { FaultName } from '../faults/faults.ts';

/**
 * Everything that happens in a history, as plain data: it can be saved, replayed and shrunk. Times are milliseconds
 * since the beginning of the history, or since the step before.
 */
export type Plan = {
  /** Seeds what the plan leaves open: latencies, losses, ids, pauses. */
  readonly seed: number;
  readonly composition: Composition;
  /** Milliseconds after which the sweep looks at work; a day in histories without it. */
  readonly stuckAfter: number;
  readonly faults: readonly PlannedFault[];
  readonly deposits: readonly PlannedDeposit[];
  /** A crash behind the n-th step of a host, in histories that try every step. */
  readonly stepCrash?: StepCrash;
};

export type StepCrash = {
  readonly host: number;
  /** From 1. */
  readonly step: number;
  /** Milliseconds until the process is started again. */
  readonly down: number;
  /** Its machine loses its power, and its disk what was not synced. */
  readonly isPowerCut?: boolean;
};

/**
 * `cluster`: EventStoreDB, S3, two nodes that serve HTTP and two that run reactors. `small-cluster`: the same with two
 * nodes that do both. `embedded`: one node that does both, with the log and the store on its disk.
 */
export type Composition = 'cluster' | 'small-cluster' | 'embedded';

export type NodeRole = 'http' | 'reactors' | 'both';

/** The role of each node, in the order in which plans number them. */
export const NODES: Readonly<Record<Composition, readonly NodeRole[]>> = {
  cluster: ['http', 'http', 'reactors', 'reactors'],
  'small-cluster': ['both', 'both'],
  embedded: ['both'],
};

export type PlannedFault = {
  readonly kind: FaultName;
  readonly at: number;
  /** By name, as the definition of the fault has them. */
  readonly parameters: Readonly<Record<string, number | string | boolean>>;
};

/** A deposit and what its client does with it. */
export type PlannedDeposit = {
  /** Distinguishes deposits when others are removed from the plan. */
  readonly name: string;
  readonly at: number;
  /** Number of a node that serves HTTP. */
  readonly node: number;
  readonly client: number;
  readonly archive: ArchiveKind;
  /** Requests have an Idempotency-Key, so they are repeated until they succeed. */
  readonly isKeyed: boolean;
  /** The creation is sent to both nodes at the same time. */
  readonly isTwofold: boolean;
  readonly isFinal: boolean;
  /** The store has the bytes of the archive already, named by no event. */
  readonly isOrphan: boolean;
  /** Number of pieces in which the archive is uploaded before; 0: it comes with the creation. On embedded nodes. */
  readonly pieces: number;
  readonly steps: readonly PlannedStep[];
};

export type StepKind = 'add' | 'replace' | 'remove' | 'complete' | 'delete' | 'annotate' | 'retry';

export type PlannedStep = {
  readonly kind: StepKind;
  readonly after: number;
  readonly node: number;
  readonly archive: ArchiveKind;
  /** The client does not wait for its answer. */
  readonly isParallel: boolean;
};

/** Nodes of a cluster that serve HTTP. */
export const HTTP_NODES = 2;
/** Clients, of which the last has no webhook. */
export const CLIENTS = ['alice', 'bob', 'carol'] as const;

/** Returns the number of commands that clients send, repetitions apart. */
export function commandsOf({ deposits }: Pick<Plan, 'deposits'>): number {
  return deposits.reduce((sum, { steps }) => sum + 1 + steps.length, 0);
}
