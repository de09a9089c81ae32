import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import messages from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { suffer } from './fault-switches.ts';
import type { ServiceContext } from './service-context.ts';

const STREAMS = 'event_store.client.streams.streams';
const PERSISTENT = 'event_store.client.persistent_subscriptions.persistentsubscriptions';
const GROUP_METHODS = [
  'create',
  'update',
  'delete',
  'read',
  'getinfo',
  'replayparked',
  'list',
  'restartsubsystem',
];
/** Names in lower case, which is how servers write them. Where one is missing, the client uses HTTP instead, or refuses. */
const METHODS: readonly (readonly [service: string, method: string, features: readonly string[]])[] = [
  [STREAMS, 'append', []],
  [STREAMS, 'delete', []],
  [STREAMS, 'read', ['position', 'events']],
  ...GROUP_METHODS.map((method) => [PERSISTENT, method, ['stream', 'all']] as const),
];

/** Serves the list of the server's methods, and its version. */
export function featuresService({ faults, node, version }: ServiceContext) {
  return {
    getSupportedMethods: async (
      _: ServerUnaryCall<Empty, SupportedMethods>,
      answer: sendUnaryData<SupportedMethods>,
    ): Promise<void> => {
      await node.gate.open();
      const refused = await suffer(faults.meet('features'), node);
      if (refused) return answer(refused);
      const methods = METHODS.map(([service, method, features]) =>
        new messages.SupportedMethod()
          .setServiceName(service)
          .setMethodName(method)
          .setFeaturesList([...features]),
      );
      answer(
        null,
        new messages.SupportedMethods().setMethodsList(methods).setEventStoreServerVersion(version),
      );
    },
  };
}
