import type { ScavengeResp, StartScavengeReq } from '@eventstore/db-client/generated/operations_pb.js';
import messages from '@eventstore/db-client/generated/operations_pb.js';
import sharedMessages, { type Empty } from '@eventstore/db-client/generated/shared_pb.js';
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { scavenge } from '../storage/scavenge.ts';
import type { StoredLog } from '../storage/stored-log.ts';
import { refusalOf, type ServiceContext } from './service-context.ts';

/** Serves the calls of operators that tests need: scavenging and loading the groups again. */
export function operationsService(context: ServiceContext, log: StoredLog) {
  return {
    startScavenge: async (
      { metadata }: ServerUnaryCall<StartScavengeReq, ScavengeResp>,
      answer: sendUnaryData<ScavengeResp>,
    ): Promise<void> => {
      const refused = await refusalOf(context, metadata, { fault: undefined, deed: { do: 'operate' } });
      if (refused) return answer(refused);
      scavenge(log);
      const result = messages.ScavengeResp.ScavengeResult.STARTED;
      answer(null, new messages.ScavengeResp().setScavengeId(crypto.randomUUID()).setScavengeResult(result));
    },
    restartPersistentSubscriptions: async (
      { metadata }: ServerUnaryCall<Empty, Empty>,
      answer: sendUnaryData<Empty>,
    ): Promise<void> => {
      const deed = { do: 'operate' } as const;
      const refused = await refusalOf(context, metadata, { fault: undefined, deed, isForLeader: true });
      if (refused) return answer(refused);
      context.node.groups?.restart();
      answer(null, new sharedMessages.Empty());
    },
  };
}
