import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import messages from '@eventstore/db-client/generated/gossip_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import sharedMessages from '@eventstore/db-client/generated/shared_pb.js';
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import type { ClusterNode } from '../cluster/cluster-node.ts';
import { suffer } from './fault-switches.ts';
import { hostOf, type ServiceContext } from './service-context.ts';

const { VNodeState } = messages.MemberInfo;
const STATES = { leader: VNodeState.LEADER, follower: VNodeState.FOLLOWER, unknown: VNodeState.UNKNOWN };

/**
 * Serves the cluster as this node sees it: one that is cut off believes that it leads, and that no other node is alive.
 * The nodes are named at the host at which the client asked.
 */
export function gossipService({ node, cluster, faults }: ServiceContext) {
  return {
    read: async (
      call: ServerUnaryCall<Empty, ClusterInfo>,
      answer: sendUnaryData<ClusterInfo>,
    ): Promise<void> => {
      await node.gate.open();
      const refused = await suffer(faults.meet('gossip'), node);
      if (refused) return answer(refused);
      if (!node.answersGossip) return;
      const members = cluster.nodes.map((member, index) =>
        memberInfo(member, index, hostOf(call), isAlive(node, member)),
      );
      answer(null, new messages.ClusterInfo().setMembersList(members));
    },
  };
}

function isAlive(seenBy: ClusterNode, member: ClusterNode): boolean {
  return seenBy === member || (!seenBy.isCutOff && member.canVote);
}

function memberInfo({ role, port }: ClusterNode, index: number, host: string, alive: boolean) {
  const id = `00000000-0000-4000-8000-${String(index + 1).padStart(12, '0')}`;
  return new messages.MemberInfo()
    .setInstanceId(new sharedMessages.UUID().setString(id))
    .setTimeStamp(String(BigInt(Date.now()) * 10_000n))
    .setState(alive ? STATES[role] : VNodeState.UNKNOWN)
    .setIsAlive(alive)
    .setHttpEndPoint(new messages.EndPoint().setAddress(host).setPort(port));
}
