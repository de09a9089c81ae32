import type { UUID } from '@eventstore/db-client/generated/shared_pb.js';
import sharedMessages from '@eventstore/db-client/generated/shared_pb.js';
import type { AppendReq, ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { ProposedEvent, StoredEvent } from '../storage/stored-events.ts';

/** The generated classes of recorded events, which are alike for reads and for persistent subscriptions. */
type WireRecord = ReadResp.ReadEvent.RecordedEvent;

export function fromWire(message: AppendReq.ProposedMessage): ProposedEvent {
  const facts = message.getMetadataMap();
  return {
    id: uuidText(message.getId()),
    type: facts.get('type') ?? '',
    contentType: facts.get('content-type') ?? '',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

export function fillRecord<Message extends WireRecord>(message: Message, event: StoredEvent): Message {
  const position = String(event.position);
  message.setId(new sharedMessages.UUID().setString(event.id));
  message.setStreamIdentifier(
    new sharedMessages.StreamIdentifier().setStreamName(new TextEncoder().encode(event.stream)),
  );
  message.setStreamRevision(String(event.revision)).setCommitPosition(position).setPreparePosition(position);
  message.setData(event.data).setCustomMetadata(event.metadata);
  const facts = message.getMetadataMap();
  facts.set('type', event.type).set('content-type', event.contentType);
  facts.set('created', String(event.created));
  return message;
}

/** Returns the text of a UUID, which travels as text or as two signed 64-bit halves. */
export function uuidText(uuid: UUID | undefined): string {
  const halves = uuid?.getStructured();
  if (!halves) return uuid?.getString() ?? '';
  const hex = [halves.getMostSignificantBits(), halves.getLeastSignificantBits()]
    .map((half) => BigInt.asUintN(64, BigInt(half)).toString(16).padStart(16, '0'))
    .join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export function streamOf(identifier: { getStreamName_asU8(): Uint8Array } | undefined): string {
  return new TextDecoder().decode(identifier?.getStreamName_asU8());
}

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

export function eventMessage(event: StoredEvent): ReadResp {
  const record = fillRecord(new messages.ReadResp.ReadEvent.RecordedEvent(), event);
  const readEvent = new messages.ReadResp.ReadEvent().setEvent(record);
  return new messages.ReadResp().setEvent(readEvent.setCommitPosition(String(event.position)));
}

/** Resolves when there is room for more, or the caller has gone. */
export async function written(call: ReadCall, message: ReadResp): Promise<void> {
  if (call.write(message) || call.cancelled) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const ends = ['drain', 'cancelled', 'close'];
  for (const end of ends) call.on(end, resolve);
  await promise;
  for (const end of ends) call.off(end, resolve);
}
