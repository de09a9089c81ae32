import gossipServices from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import gossipMessages from '@eventstore/db-client/generated/gossip_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import sharedMessages from '@eventstore/db-client/generated/shared_pb.js';
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { AppendReq, AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import streamMessages from '@eventstore/db-client/generated/streams_pb.js';
import {
  Server,
  ServerCredentials,
  type ServerReadableStream,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { ExecutionContext } from 'ava';

/** The answers of the node; each handler gets the number of the call, from 1. */
export type NodeBehaviour = {
  /** Resolves to whether the node leads; without a leader the client continues to search. */
  readonly leads: (call: number) => boolean | Promise<boolean>;
  /** Resolves to whether the append succeeds; otherwise it is answered UNAVAILABLE. */
  readonly appends: (call: number) => boolean | Promise<boolean>;
};

/** Starts a node that answers gossip and appends, and stores nothing. Returns how a client finds it as a cluster. */
export async function startClusterNode(t: ExecutionContext, behaviour: NodeBehaviour): Promise<string> {
  const server = new Server();
  let [gossips, appends, port] = [0, 0, 0];
  const gossip = {
    read: async (_: ServerUnaryCall<Empty, ClusterInfo>, answer: sendUnaryData<ClusterInfo>) => {
      gossips += 1;
      answer(null, clusterOf(port, await behaviour.leads(gossips)));
    },
  };
  const streams = {
    append: async (call: ServerReadableStream<AppendReq, AppendResp>, answer: sendUnaryData<AppendResp>) => {
      appends += 1;
      const number = appends;
      for await (const _ of call);
      if (await behaviour.appends(number)) answer(null, success(number));
      else answer({ code: status.UNAVAILABLE });
    },
  };
  server.addService(gossipServices.GossipService, gossip satisfies UntypedServiceImplementation);
  server.addService(streamServices.StreamsService, streams satisfies UntypedServiceImplementation);
  port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  t.teardown(() => server.forceShutdown());
  const node = `127.0.0.1:${port}`;
  return `esdb://${node},${node}?tls=false&discoveryInterval=50`;
}

function clusterOf(port: number, leads: boolean): ClusterInfo {
  const { LEADER, UNKNOWN } = gossipMessages.MemberInfo.VNodeState;
  const member = new gossipMessages.MemberInfo()
    .setInstanceId(new sharedMessages.UUID().setString('00000000-0000-4000-8000-000000000001'))
    .setTimeStamp('0')
    .setState(leads ? LEADER : UNKNOWN)
    .setIsAlive(true)
    .setHttpEndPoint(new gossipMessages.EndPoint().setAddress('127.0.0.1').setPort(port));
  return new gossipMessages.ClusterInfo().setMembersList([member]);
}

function success(number: number): AppendResp {
  const position = new streamMessages.AppendResp.Position()
    .setCommitPosition(String(number))
    .setPreparePosition(String(number));
  return new streamMessages.AppendResp().setSuccess(
    new streamMessages.AppendResp.Success().setCurrentRevision('0').setPosition(position),
  );
}
