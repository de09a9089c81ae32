import type { ArchiveKind } from '../archives/archive-workers.ts';
import type { ServerLog } from '../cluster/server-log.ts';
import type { S3Server } from '../network/s3-server.ts';
import type { EarlyRetry, Received } from '../network/webhook-receiver.ts';
import type { SimulatedNode } from '../nodes/simulated-node.ts';
import type { Plan } from '../plan/plan.ts';
import type { Answer } from './answer.ts';
import type { Standing } from './standings.ts';

/** A fault that had an effect, from its beginning until nothing of it is left. */
export type FaultWindow = { readonly kind: string; readonly from: number; readonly until: number };

/** All that invariants are judged by. */
export type EndedHistory = {
  readonly plan: Plan;
  readonly log: ServerLog;
  /** Differences of an embedded log from what was committed. */
  readonly logFaults: readonly string[];
  /** Pieces of uploads that were acknowledged and are not there. */
  readonly pieceFaults: readonly string[];
  readonly store: S3Server;
  readonly received: readonly Received[];
  readonly earlyRetries: readonly EarlyRetry[];
  readonly answers: readonly Answer[];
  /** Requests that were repeated and never succeeded. */
  readonly unanswered: readonly string[];
  /** Nodes that are ready at the end. */
  readonly nodes: readonly SimulatedNode[];
  /** Hosts whose node is not ready at the end. */
  readonly absent: readonly string[];
  readonly faults: readonly FaultWindow[];
  readonly standings: readonly Standing[];
  /** By SHA-256. */
  readonly archiveKinds: ReadonlyMap<string, ArchiveKind>;
  /** Unhandled rejections and exceptions. */
  readonly unhandled: readonly string[];
  /** Nodes that could not go on. */
  readonly failures: readonly string[];
  /** Errors that nodes logged. */
  readonly errors: readonly string[];
  readonly steps: number;
  /** It took more steps than any history should. */
  readonly isCutOff: boolean;
};
