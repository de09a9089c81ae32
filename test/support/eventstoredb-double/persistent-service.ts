import { randomUUID } from 'node:crypto';
import type {
  CreateReq,
  CreateResp,
  GetInfoReq,
  GetInfoResp,
  ReadReq,
  ReadResp,
  ReplayParkedReq,
  ReplayParkedResp,
} from '@eventstore/db-client/generated/persistent_pb.js';
import messages from '@eventstore/db-client/generated/persistent_pb.js';
import { type ServerDuplexStream, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { acceptor } from './catch-up-subscription.ts';
import type { Consumer, ConsumerGroup, HandedOut, NackAction } from './consumer-group.ts';
import type { ConsumerGroups } from './consumer-groups.ts';
import { type FaultSwitches, refusal, suffer } from './fault-switches.ts';
import type { OpenSubscriptions } from './open-subscriptions.ts';
import { fillRecord, uuidText } from './wire-events.ts';

export type PersistentServer = {
  readonly groups: ConsumerGroups;
  readonly faults: FaultSwitches;
  readonly subscriptions: OpenSubscriptions;
  readonly port: () => number;
};

type ConsumeCall = ServerDuplexStream<ReadReq, ReadResp>;
const { RETRY, PARK, SKIP } = messages.ReadReq.Nack.Action;
const ACTIONS: ReadonlyMap<number, NackAction> = new Map([
  [RETRY, 'retry'],
  [PARK, 'park'],
  [SKIP, 'skip'],
]);

export function persistentService(server: PersistentServer) {
  return {
    create: (call: ServerUnaryCall<CreateReq, CreateResp>, answer: sendUnaryData<CreateResp>) =>
      void create(server, call.request, answer),
    read: (call: ConsumeCall) => consume(server, call),
    getInfo: (call: ServerUnaryCall<GetInfoReq, GetInfoResp>, answer: sendUnaryData<GetInfoResp>) =>
      withGroup(server, call.request.getOptions()?.getGroupName(), answer, infoOf),
    replayParked: (
      call: ServerUnaryCall<ReplayParkedReq, ReplayParkedResp>,
      answer: sendUnaryData<ReplayParkedResp>,
    ) =>
      withGroup(server, call.request.getOptions()?.getGroupName(), answer, (group) => {
        group.replayParked();
        return new messages.ReplayParkedResp();
      }),
  };
}

async function create(
  { groups, faults, port }: PersistentServer,
  request: CreateReq,
  answer: sendUnaryData<CreateResp>,
): Promise<void> {
  const options = request.getOptions() as CreateReq.Options;
  const name = options.getGroupName();
  const refused = await suffer(faults.meet('createGroup'), port());
  if (refused) return answer(refused);
  if (groups.get(name)) {
    return answer(refusal(status.ALREADY_EXISTS, 'persistent-subscription-exists', group(name)));
  }
  const settings = options.getSettings() as CreateReq.Settings;
  const after = options.getAll()?.getPosition()?.getCommitPosition();
  groups.create(name, {
    accepts: acceptor(options.getAll()?.getFilter()?.getStreamIdentifier()),
    ...(after !== undefined && { after: BigInt(after) }),
    messageTimeout: settings.getMessageTimeoutMs(),
    maxRetryCount: settings.getMaxRetryCount(),
    isPinned: settings.getNamedConsumerStrategy() === messages.CreateReq.ConsumerStrategy.PINNED,
  });
  answer(null, new messages.CreateResp());
}

/** The first message says which group; acknowledgements follow on the same stream. */
function consume({ groups, faults, subscriptions, port }: PersistentServer, call: ConsumeCall): void {
  let connected: { readonly group: ConsumerGroup; readonly consumer: Consumer } | undefined;
  call.on('data', (request: ReadReq) => {
    const options = request.getOptions();
    if (options) void begin(options).catch((error: unknown) => call.emit('error', error as Error));
    else if (connected) settle(connected.group, connected.consumer, request);
  });
  call.on('end', () => call.end());

  async function begin(options: ReadReq.Options): Promise<void> {
    const name = options.getGroupName();
    const refused = await suffer(faults.meet('consume'), port());
    const found = groups.get(name);
    if (refused || !found) {
      const missing = refusal(status.NOT_FOUND, 'persistent-subscription-does-not-exist', group(name));
      return void call.emit('error', refused ?? missing);
    }
    const consumer = {
      bufferSize: options.getBufferSize(),
      send: (message: HandedOut) => void call.write(eventMessage(message)),
    };
    connected = { group: found, consumer };
    subscriptions.add(call, () => groups.disconnect(consumer));
    call.write(confirmation());
    groups.connect(found, consumer);
  }
}

function settle(group: ConsumerGroup, consumer: Consumer, request: ReadReq): void {
  const [ack, nack] = [request.getAck(), request.getNack()];
  if (ack) group.acknowledge(consumer, ack.getIdsList().map(uuidText));
  const action = nack && ACTIONS.get(nack.getAction());
  if (nack && action) group.refuse(consumer, nack.getIdsList().map(uuidText), action);
}

function withGroup<Answer>(
  { groups }: PersistentServer,
  name = '',
  answer: sendUnaryData<Answer>,
  use: (group: ConsumerGroup, name: string) => Answer,
): void {
  const found = groups.get(name);
  if (found) answer(null, use(found, name));
  else answer(refusal(status.NOT_FOUND, 'persistent-subscription-does-not-exist', group(name)));
}

function infoOf(found: ConsumerGroup, name: string): GetInfoResp {
  const info = new messages.SubscriptionInfo()
    .setEventSource('$all')
    .setGroupName(name)
    .setStatus('Live')
    .setMaxRetryCount(found.settings.maxRetryCount)
    .setMessageTimeoutMilliseconds(found.settings.messageTimeout)
    .setNamedConsumerStrategy(found.settings.isPinned ? 'Pinned' : 'RoundRobin')
    .setParkedMessageCount(String(found.parked.length))
    .setOutstandingMessagesCount(found.held)
    .setLiveBufferCount(String(found.unacknowledged - found.held))
    .setLastCheckpointedEventPosition(positionText(found.checkpoint))
    .setLastKnownEventPosition(positionText(found.lastKnown));
  for (let number = 0; number < found.consumers; number += 1) {
    info.addConnections(new messages.SubscriptionInfo.ConnectionInfo().setConnectionName(`${number}`));
  }
  return new messages.GetInfoResp().setSubscriptionInfo(info);
}

/** Empty before the first event. */
function positionText(position: bigint | undefined): string {
  return position === undefined ? '' : `C:${position}/P:${position}`;
}

function group(name: string) {
  return { 'stream-name': '$all', 'group-name': name };
}

function confirmation(): ReadResp {
  const { SubscriptionConfirmation } = messages.ReadResp;
  const confirmed = new SubscriptionConfirmation().setSubscriptionId(randomUUID());
  return new messages.ReadResp().setSubscriptionConfirmation(confirmed);
}

function eventMessage({ event, retryCount }: HandedOut): ReadResp {
  const record = fillRecord(new messages.ReadResp.ReadEvent.RecordedEvent(), event);
  const readEvent = new messages.ReadResp.ReadEvent().setEvent(record).setRetryCount(retryCount);
  return new messages.ReadResp().setEvent(readEvent.setCommitPosition(String(event.position)));
}
