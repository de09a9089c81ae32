import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/persistent_pb.js';
import messages from '@eventstore/db-client/generated/persistent_pb.js';
import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { ConsumerGroup, NackAction } from '../groups/consumer-group.ts';
import { GroupConsumer } from '../groups/group-consumer.ts';
import type { Message } from '../groups/message.ts';
import { groupRefusal } from './fault-switches.ts';
import { hostOf, refusalOf, type ServiceContext } from './service-context.ts';
import { fillRecord, uuidText } from './wire-events.ts';

export type ConsumeCall = ServerDuplexStream<ReadReq, ReadResp>;

const { RETRY, PARK, SKIP } = messages.ReadReq.Nack.Action;
const ACTIONS: ReadonlyMap<number, NackAction> = new Map([
  [RETRY, 'retry'],
  [PARK, 'park'],
  [SKIP, 'skip'],
]);

/** Connects a consumer to its group: the first message names the group, acknowledgements follow on the same stream. */
export function serveConsumer(context: ServiceContext, call: ConsumeCall): void {
  let group: ConsumerGroup | undefined;
  call.on('data', (request: ReadReq) => {
    const options = request.getOptions();
    const settleNow = () => group && settle(group, request);
    if (!options) context.node.gate.run(settleNow);
    else
      void connected(context, call, options)
        .then((found) => (group = found))
        .catch((error: unknown) => call.emit('error', error as Error));
  });
  call.on('end', () => call.end());
}

/** Resolves to the group, or to undefined when the call was refused. */
async function connected(
  context: ServiceContext,
  call: ConsumeCall,
  options: ReadReq.Options,
): Promise<ConsumerGroup | undefined> {
  const { node, faults, subscriptions, access } = context;
  const name = options.getGroupName();
  const fault = faults.meet('consume');
  const deed = { do: 'read', stream: '$all' } as const;
  const refused = await refusalOf(context, call.metadata, {
    fault,
    deed,
    isForLeader: true,
    host: hostOf(call),
  });
  if (call.cancelled) return undefined;
  const group = node.groups?.get(name);
  if (refused || !group || group.isFull) {
    const missing = groupRefusal(status.NOT_FOUND, 'persistent-subscription-does-not-exist', name);
    const full = groupRefusal(status.FAILED_PRECONDITION, 'maximum-subscribers-reached', name);
    call.emit('error', refused ?? (group ? full : missing));
    return undefined;
  }
  const consumer = new GroupConsumer({
    bufferSize: options.getBufferSize(),
    send: (message) => void call.write(eventMessage(message)),
    drop: () => {
      subscriptions.forget(call);
      call.emit('error', groupRefusal(status.CANCELLED, 'persistent-subscription-dropped', name));
    },
    connectionName: String(call.metadata.get('connection-name')[0] ?? ''),
    from: call.getPeer(),
    username: access.nameOf(call.metadata),
  });
  subscriptions.add(call, () => group.disconnect(consumer));
  call.write(confirmation(name));
  group.connect(consumer);
  return group;
}

function settle(group: ConsumerGroup, request: ReadReq): void {
  const [ack, nack] = [request.getAck(), request.getNack()];
  if (ack) group.acknowledge(ack.getIdsList().map(uuidText));
  const action = nack && ACTIONS.get(nack.getAction());
  if (nack && action) group.refuse(nack.getIdsList().map(uuidText), action);
}

function confirmation(group: string): ReadResp {
  const { SubscriptionConfirmation } = messages.ReadResp;
  const confirmed = new SubscriptionConfirmation().setSubscriptionId(`$all::${group}`);
  return new messages.ReadResp().setSubscriptionConfirmation(confirmed);
}

function eventMessage({ event, retryCount }: Message): ReadResp {
  const record = fillRecord(new messages.ReadResp.ReadEvent.RecordedEvent(), event);
  const readEvent = new messages.ReadResp.ReadEvent().setEvent(record).setRetryCount(retryCount);
  return new messages.ReadResp().setEvent(readEvent.setCommitPosition(String(event.position)));
}
