import type {
  CreateReq,
  CreateResp,
  DeleteReq,
  DeleteResp,
  GetInfoReq,
  GetInfoResp,
  ListReq,
  ListResp,
  ReplayParkedReq,
  ReplayParkedResp,
  UpdateReq,
  UpdateResp,
} from '@eventstore/db-client/generated/persistent_pb.js';
import messages from '@eventstore/db-client/generated/persistent_pb.js';
import sharedMessages, { type Empty } from '@eventstore/db-client/generated/shared_pb.js';
import { type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import type { ConsumerGroup } from '../groups/consumer-group.ts';
import type { ConsumerGroups } from '../groups/consumer-groups.ts';
import type { GroupSettings } from '../groups/group-settings.ts';
import type { Deed } from './access-control.ts';
import { type ConsumeCall, serveConsumer } from './consume-call.ts';
import type { FaultyCall, Refusal } from './fault-switches.ts';
import { groupRefusal } from './fault-switches.ts';
import { createdSettings, infoOf, updatedSettings } from './group-wire.ts';
import { hostOf, refusalOf, type ServiceContext } from './service-context.ts';

type Work<Request, Answer> = (groups: ConsumerGroups, request: Request) => Promise<Answer | Refusal>;
type Rules = { readonly deed: Deed; readonly fault?: FaultyCall };

const OPERATE = { deed: { do: 'operate' } } as const;
const LOOK = { deed: { do: 'look at groups' } } as const;

/** Serves everything about groups on `$all`, which only the leader does. */
export function persistentService(context: ServiceContext) {
  const unary =
    <Request, Answer>(rules: Rules, work: Work<Request, Answer>) =>
    (call: ServerUnaryCall<Request, Answer>, answer: sendUnaryData<Answer>): void =>
      void serveUnary(context, rules, call, work)
        .then((answered) => (isRefusal(answered) ? answer(answered) : answer(null, answered)))
        .catch((error: unknown) => answer(error as Error));
  return {
    read: (call: ConsumeCall) => serveConsumer(context, call),
    create: unary<CreateReq, CreateResp>({ ...OPERATE, fault: 'createGroup' }, create),
    update: unary<UpdateReq, UpdateResp>(OPERATE, update),
    delete: unary<DeleteReq, DeleteResp>(OPERATE, remove),
    getInfo: unary<GetInfoReq, GetInfoResp>({ ...LOOK, fault: 'groupInfo' }, info),
    list: unary<ListReq, ListResp>(LOOK, list),
    replayParked: unary<ReplayParkedReq, ReplayParkedResp>(OPERATE, replayParked),
    restartSubsystem: unary<Empty, Empty>(OPERATE, async (groups) => {
      groups.restart();
      return new sharedMessages.Empty();
    }),
  };
}

async function serveUnary<Request, Answer>(
  context: ServiceContext,
  { deed, fault }: Rules,
  call: ServerUnaryCall<Request, Answer>,
  work: Work<Request, Answer>,
): Promise<Answer | Refusal> {
  const met = fault && context.faults.meet(fault);
  const refused = await refusalOf(context, call.metadata, {
    fault: met,
    deed,
    isForLeader: true,
    host: hostOf(call),
  });
  return refused ?? work(context.node.groups as ConsumerGroups, call.request);
}

async function create(groups: ConsumerGroups, request: CreateReq): Promise<CreateResp | Refusal> {
  const options = request.getOptions() as CreateReq.Options;
  const name = options.getGroupName();
  if (groups.get(name)) return groupRefusal(status.ALREADY_EXISTS, 'persistent-subscription-exists', name);
  const settings = createdSettings(options);
  const invalid = invalidSettings(name, settings);
  if (invalid) return invalid;
  groups.create(name, settings);
  await groups.saved;
  return new messages.CreateResp();
}

async function update(groups: ConsumerGroups, request: UpdateReq): Promise<UpdateResp | Refusal> {
  const options = request.getOptions() as UpdateReq.Options;
  const name = options.getGroupName();
  if (!groups.get(name)) return missing(name);
  const settings = updatedSettings(options);
  const invalid = invalidSettings(name, settings);
  if (invalid) return invalid;
  groups.update(name, settings);
  await groups.saved;
  return new messages.UpdateResp();
}

async function remove(groups: ConsumerGroups, request: DeleteReq): Promise<DeleteResp | Refusal> {
  const name = request.getOptions()?.getGroupName() ?? '';
  if (!groups.get(name)) return missing(name);
  groups.delete(name);
  await groups.saved;
  return new messages.DeleteResp();
}

async function info(groups: ConsumerGroups, request: GetInfoReq): Promise<GetInfoResp | Refusal> {
  return withGroup(groups, request, (group) => new messages.GetInfoResp().setSubscriptionInfo(infoOf(group)));
}

async function list(groups: ConsumerGroups): Promise<ListResp | Refusal> {
  const infos = groups.list().map(infoOf);
  if (infos.length === 0) return groupRefusal(status.NOT_FOUND, 'persistent-subscription-does-not-exist', '');
  return new messages.ListResp().setSubscriptionsList(infos);
}

async function replayParked(
  groups: ConsumerGroups,
  request: ReplayParkedReq,
): Promise<ReplayParkedResp | Refusal> {
  return withGroup(groups, request, (group) => {
    group.replayParked();
    return new messages.ReplayParkedResp();
  });
}

function withGroup<Answer>(
  groups: ConsumerGroups,
  request: { getOptions(): { getGroupName(): string } | undefined },
  use: (group: ConsumerGroup) => Answer,
): Answer | Refusal {
  const name = request.getOptions()?.getGroupName() ?? '';
  const group = groups.get(name);
  return group ? use(group) : missing(name);
}

function missing(name: string): Refusal {
  return groupRefusal(status.NOT_FOUND, 'persistent-subscription-does-not-exist', name);
}

function invalidSettings(name: string, { readBatchSize, bufferSize }: GroupSettings): Refusal | undefined {
  if (readBatchSize < bufferSize) return undefined;
  const reason = `readBatchSize may not be greater than or equal to bufferSize: ${readBatchSize}, ${bufferSize}.`;
  return groupRefusal(status.INTERNAL, 'persistent-subscription-failed', name, reason);
}

function isRefusal(answered: unknown): answered is Refusal {
  return typeof answered === 'object' && answered !== null && 'details' in answered && 'code' in answered;
}
