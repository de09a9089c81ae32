import type {
  CreateReq,
  CreateResp,
  DeleteReq,
  DeleteResp,
} from '@eventstore/db-client/generated/users_pb.js';
import messages from '@eventstore/db-client/generated/users_pb.js';
import { type Metadata, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { type Refusal, refusal } from './fault-switches.ts';
import { refusalOf, type ServiceContext } from './service-context.ts';

/** Creates and deletes users, for admins. */
export function usersService(context: ServiceContext) {
  const { access } = context;
  const refusedOf = (metadata: Metadata): Promise<Refusal | undefined> =>
    refusalOf(context, metadata, { fault: undefined, deed: { do: 'manage users' } });
  return {
    create: async (
      { request, metadata }: ServerUnaryCall<CreateReq, CreateResp>,
      answer: sendUnaryData<CreateResp>,
    ): Promise<void> => {
      const refused = await refusedOf(metadata);
      if (refused) return answer(refused);
      const options = request.getOptions() as CreateReq.Options;
      const name = options.getLoginName();
      if (access.has(name))
        return answer(refusal(status.ALREADY_EXISTS, 'user-conflict', { 'login-name': name }));
      access.add(name, { password: options.getPassword(), groups: options.getGroupsList() });
      answer(null, new messages.CreateResp());
    },
    delete: async (
      { request, metadata }: ServerUnaryCall<DeleteReq, DeleteResp>,
      answer: sendUnaryData<DeleteResp>,
    ): Promise<void> => {
      const refused = await refusedOf(metadata);
      if (refused) return answer(refused);
      access.remove(request.getOptions()?.getLoginName() ?? '');
      answer(null, new messages.DeleteResp());
    },
  };
}
