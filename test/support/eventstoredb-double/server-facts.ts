import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import gossipMessages from '@eventstore/db-client/generated/gossip_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import featureMessages from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import sharedMessages from '@eventstore/db-client/generated/shared_pb.js';
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { type FaultSwitches, suffer } from './fault-switches.ts';

const STREAMS = 'event_store.client.streams.streams';
const PERSISTENT = 'event_store.client.persistent_subscriptions.persistentsubscriptions';
/** In lower case, as servers say them; the client takes other ways when one is missing. */
const METHODS: readonly (readonly [service: string, method: string, features: readonly string[]])[] = [
  [STREAMS, 'append', []],
  [STREAMS, 'batchappend', ['deadline_duration']],
  [STREAMS, 'read', ['position', 'events']],
  ...['create', 'update', 'delete', 'read', 'getinfo', 'replayparked', 'list'].map(
    (method) => [PERSISTENT, method, ['stream', 'all']] as const,
  ),
];

export function featuresService(faults: FaultSwitches) {
  return {
    getSupportedMethods: async (
      _: ServerUnaryCall<Empty, SupportedMethods>,
      answer: sendUnaryData<SupportedMethods>,
    ) => {
      const refused = await suffer(faults.meet('features'), 0);
      if (refused) return answer(refused);
      const methods = METHODS.map(([service, method, features]) =>
        new featureMessages.SupportedMethod()
          .setServiceName(service)
          .setMethodName(method)
          .setFeaturesList([...features]),
      );
      answer(
        null,
        new featureMessages.SupportedMethods().setMethodsList(methods).setEventStoreServerVersion('24.10.0'),
      );
    },
  };
}

/** A cluster of one, which leads. */
export function gossipService(port: () => number) {
  return {
    read: (_: ServerUnaryCall<Empty, ClusterInfo>, answer: sendUnaryData<ClusterInfo>) => {
      const member = new gossipMessages.MemberInfo()
        .setInstanceId(new sharedMessages.UUID().setString('00000000-0000-4000-8000-000000000001'))
        .setTimeStamp('0')
        .setState(gossipMessages.MemberInfo.VNodeState.LEADER)
        .setIsAlive(true)
        .setHttpEndPoint(new gossipMessages.EndPoint().setAddress('127.0.0.1').setPort(port()));
      answer(null, new gossipMessages.ClusterInfo().setMembersList([member]));
    },
  };
}
