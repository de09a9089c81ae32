import { type Metadata, type ServerUnaryCall, status } from '@grpc/grpc-js';
import type { Cluster } from '../cluster/cluster.ts';
import type { ClusterNode } from '../cluster/cluster-node.ts';
import type { AccessControl, Deed } from './access-control.ts';
import {
  type Fault,
  type FaultSwitches,
  notLeader,
  type Refusal,
  refusal,
  suffer,
} from './fault-switches.ts';
import type { OpenSubscriptions } from './open-subscriptions.ts';

/** The parts of the double that the services of a node share. */
export type ServiceContext = {
  readonly node: ClusterNode;
  readonly cluster: Cluster;
  readonly faults: FaultSwitches;
  readonly subscriptions: OpenSubscriptions;
  readonly access: AccessControl;
  readonly sendsCaughtUp: boolean;
  readonly version: string;
};

export type Admission = {
  /** The fault that the call meets, if it meets one. */
  readonly fault: Fault | undefined;
  readonly deed: Deed;
  /** Whether only the leader serves the call, also when the caller does not ask for it. */
  readonly isForLeader?: boolean;
  /** The host at which the client called. A refusal names the leader at this host. */
  readonly host?: string;
};

/** Resolves to the answer of a call that is not served: a fault, a user without rights, a node that does not lead. */
export async function refusalOf(
  { node, cluster, access }: ServiceContext,
  metadata: Metadata,
  { fault, deed, isForLeader = false, host = node.host }: Admission,
): Promise<Refusal | undefined> {
  await node.gate.open();
  const refused = (await suffer(fault, cluster.leader ?? node)) ?? access.refusal(metadata, deed);
  if (refused) return refused;
  const needsLeader = isForLeader || metadata.get('requires-leader')[0] === 'true';
  if (!needsLeader || node.role === 'leader') return undefined;
  const { leader } = cluster;
  return leader && node.role === 'follower'
    ? notLeader({ host, port: leader.port })
    : refusal(status.UNAVAILABLE);
}

/** Returns the host at which a client called, without the port. Proxies at other addresses than the node keep its port. */
export function hostOf(call: Pick<ServerUnaryCall<unknown, unknown>, 'getHost'>): string {
  return call.getHost().replace(/:\d+$/, '');
}
