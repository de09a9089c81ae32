import sharedMessages from '@eventstore/db-client/generated/shared_pb.js';
import type { AppendReq, AppendResp, ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerReadableStream, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import { serveSubscription } from './catch-up-subscription.ts';
import { type FaultSwitches, refusal, suffer } from './fault-switches.ts';
import type { OpenSubscriptions } from './open-subscriptions.ts';
import type { AppendOutcome, Expected, ProposedEvent, StoredEvent, StoredLog } from './stored-log.ts';
import { fillRecord, fromWire } from './wire-events.ts';

export type StreamsServer = {
  readonly log: StoredLog;
  readonly faults: FaultSwitches;
  readonly subscriptions: OpenSubscriptions;
  readonly sendsCaughtUp: boolean;
  readonly port: () => number;
};

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

const MAX_APPEND_SIZE = 1024 * 1024;
const END = 2n ** 64n - 1n;

export function streamsService(server: StreamsServer) {
  return {
    append: (call: ServerReadableStream<AppendReq, AppendResp>, answer: sendUnaryData<AppendResp>) =>
      void append(server, call, answer).catch((error: unknown) => answer(error as Error)),
    read: (call: ReadCall) =>
      void read(server, call).catch((error: unknown) => call.emit('error', error as Error)),
  };
}

async function append(
  { log, faults, port }: StreamsServer,
  call: ServerReadableStream<AppendReq, AppendResp>,
  answer: sendUnaryData<AppendResp>,
): Promise<void> {
  const { options, events } = await received(call);
  if (call.cancelled) return; // what came may be a part of it only
  const fault = faults.meet('append');
  const refused = (await suffer(fault, port())) ?? tooLarge(events);
  if (refused) return answer(refused);
  const outcome = log.append(streamOf(options?.getStreamIdentifier()), expectedOf(options), events);
  if (fault?.kind === 'commit and hang') return;
  if (fault?.kind === 'commit and refuse') return answer(refusal(fault.code));
  answer(null, appendAnswer(outcome, options));
}

async function received(call: ServerReadableStream<AppendReq, AppendResp>) {
  let options: AppendReq.Options | undefined;
  const events: ProposedEvent[] = [];
  for await (const request of call as AsyncIterable<AppendReq>) {
    options = request.getOptions() ?? options;
    const proposed = request.getProposedMessage();
    if (proposed) events.push(fromWire(proposed));
  }
  return { options, events };
}

function tooLarge(events: readonly ProposedEvent[]) {
  const size = events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);
  if (size <= MAX_APPEND_SIZE) return undefined;
  return refusal(status.INVALID_ARGUMENT, 'maximum-append-size-exceeded', {
    'maximum-append-size': String(MAX_APPEND_SIZE),
  });
}

function expectedOf(options: AppendReq.Options | undefined): Expected {
  if (options?.hasNoStream()) return 'none';
  if (options?.hasStreamExists()) return 'exists';
  return options?.hasRevision() ? Number(options.getRevision()) : 'any';
}

function appendAnswer(outcome: AppendOutcome, options: AppendReq.Options | undefined): AppendResp {
  const answer = new messages.AppendResp();
  if (outcome.kind === 'refused')
    return answer.setWrongExpectedVersion(wrongVersion(outcome.actual, options));
  const { last } = outcome;
  const position = new messages.AppendResp.Position();
  // For what is already there the server names another position than that of the last event.
  if (outcome.kind === 'appended') {
    position.setCommitPosition(String(last.position)).setPreparePosition(String(last.position));
  } else position.setCommitPosition(String(outcome.first.position)).setPreparePosition('0');
  return answer.setSuccess(
    new messages.AppendResp.Success().setCurrentRevision(String(last.revision)).setPosition(position),
  );
}

function wrongVersion(actual: number, options: AppendReq.Options | undefined) {
  const wrong = new messages.AppendResp.WrongExpectedVersion();
  if (actual >= 0) wrong.setCurrentRevision(String(actual));
  else wrong.setCurrentNoStream(new sharedMessages.Empty());
  if (options?.hasRevision()) wrong.setExpectedRevision(options.getRevision());
  else wrong.setExpectedNoStream(new sharedMessages.Empty());
  return wrong;
}

async function read(server: StreamsServer, call: ReadCall): Promise<void> {
  const options = call.request.getOptions() as ReadReq.Options;
  const isSubscription = options.hasSubscription();
  const refused = await suffer(server.faults.meet(isSubscription ? 'subscribe' : 'read'), server.port());
  if (refused) return void call.emit('error', refused);
  if (isSubscription) return serveSubscription(server, call, options);
  const count = Number(options.getCount());
  const found = options.hasAll() ? allEvents(server.log, options) : streamEvents(server.log, options);
  if (!found) await written(call, streamNotFound(options));
  for (const event of found?.slice(0, count) ?? []) await written(call, eventMessage(event));
  call.end();
}

function allEvents({ all }: StoredLog, options: ReadReq.Options): readonly StoredEvent[] {
  const from = options.getAll();
  const position = BigInt(from?.getPosition()?.getCommitPosition() ?? 0);
  if (isBackwards(options)) {
    const before =
      from?.hasEnd() || position === END ? all : all.filter((event) => event.position < position);
    return before.toReversed();
  }
  return from?.hasPosition() ? all.filter((event) => event.position >= position) : all;
}

/** Undefined when there is no such stream. */
function streamEvents(log: StoredLog, options: ReadReq.Options): readonly StoredEvent[] | undefined {
  const from = options.getStream();
  const events = log.stream(streamOf(from?.getStreamIdentifier()));
  if (events.length === 0) return undefined;
  const revision = from?.hasRevision() ? BigInt(from.getRevision()) : undefined;
  if (isBackwards(options)) {
    const end = revision === undefined ? END : revision;
    return events.filter((event) => BigInt(event.revision) <= end).toReversed();
  }
  return events.filter((event) => BigInt(event.revision) >= (revision ?? 0n));
}

function isBackwards(options: ReadReq.Options): boolean {
  return options.getReadDirection() === messages.ReadReq.Options.ReadDirection.BACKWARDS;
}

export function eventMessage(event: StoredEvent): ReadResp {
  const record = fillRecord(new messages.ReadResp.ReadEvent.RecordedEvent(), event);
  const readEvent = new messages.ReadResp.ReadEvent().setEvent(record);
  return new messages.ReadResp().setEvent(readEvent.setCommitPosition(String(event.position)));
}

function streamNotFound(options: ReadReq.Options): ReadResp {
  const identifier = options.getStream()?.getStreamIdentifier();
  return new messages.ReadResp().setStreamNotFound(
    new messages.ReadResp.StreamNotFound().setStreamIdentifier(identifier),
  );
}

function streamOf(identifier: { getStreamName_asU8(): Uint8Array } | undefined): string {
  return new TextDecoder().decode(identifier?.getStreamName_asU8());
}

/** Resolves when there is room for more, or nobody reads any longer. */
export async function written(call: ReadCall, message: ReadResp): Promise<void> {
  if (call.write(message) || call.cancelled) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const ends = ['drain', 'cancelled', 'close'];
  for (const end of ends) call.on(end, resolve);
  await promise;
  for (const end of ends) call.off(end, resolve);
}
