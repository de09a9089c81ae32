import sharedMessages from '@eventstore/db-client/generated/shared_pb.js';
import type { AppendReq, AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerReadableStream, type sendUnaryData, status } from '@grpc/grpc-js';
import type { Expected } from '../storage/append-check.ts';
import type { ProposedEvent } from '../storage/stored-events.ts';
import type { AppendOutcome } from '../storage/stored-log.ts';
import { type Refusal, refusal } from './fault-switches.ts';
import { hostOf, refusalOf, type ServiceContext } from './service-context.ts';
import { fromWire, streamOf } from './wire-events.ts';

type Options = AppendReq.Options | undefined;

const MAX_APPEND_SIZE = 1024 * 1024;
/** Bytes that count for each event, besides its data and its metadata. */
const EVENT_OVERHEAD = 2;

/** Serves one append: the caller sends the options, then the events. */
export async function answerAppend(
  context: ServiceContext,
  call: ServerReadableStream<AppendReq, AppendResp>,
  answer: sendUnaryData<AppendResp>,
): Promise<void> {
  const { options, events } = await received(call);
  if (call.cancelled) return; // the events that came may be a part of them only
  const stream = streamOf(options?.getStreamIdentifier());
  const fault = context.faults.meet('append');
  const deed = { do: 'write', stream } as const;
  const refused =
    (await refusalOf(context, call.metadata, { fault, deed, host: hostOf(call) })) ?? tooLarge(events);
  const writer = context.cluster.writer(context.node);
  if (refused || !writer) return answer(refused ?? refusal(status.UNAVAILABLE));
  const appending = writer.append(stream, expectedOf(options), events);
  const outcome = await inTime(appending, context.cluster.times.commitTimeoutMs);
  if (fault?.kind === 'commit and hang') return;
  if (fault?.kind === 'commit and refuse') return answer(refusal(fault.code));
  if (outcome === undefined)
    answer(refusal(status.ABORTED)); // a time-out: it may be committed later
  else answer(null, appendAnswer(outcome, options));
}

async function received(call: ServerReadableStream<AppendReq, AppendResp>) {
  let options: Options;
  const events: ProposedEvent[] = [];
  for await (const request of call as AsyncIterable<AppendReq>) {
    options = request.getOptions() ?? options;
    const proposed = request.getProposedMessage();
    if (proposed) events.push(fromWire(proposed));
  }
  return { options, events };
}

/** Resolves to undefined when the append is not replicated in time. */
async function inTime(
  appending: Promise<AppendOutcome>,
  milliseconds: number,
): Promise<AppendOutcome | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, milliseconds, undefined);
  try {
    return await Promise.race([appending, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(events: readonly ProposedEvent[]): Refusal | undefined {
  const sizes = events.map(({ data, metadata }) => data.length + metadata.length + EVENT_OVERHEAD);
  if (sizes.reduce((sum, size) => sum + size, 0) <= MAX_APPEND_SIZE) return undefined;
  const trailers = { 'maximum-append-size': String(MAX_APPEND_SIZE) };
  return refusal(status.INVALID_ARGUMENT, 'maximum-append-size-exceeded', trailers);
}

function expectedOf(options: Options): Expected {
  if (options?.hasNoStream()) return 'none';
  if (options?.hasStreamExists()) return 'exists';
  return options?.hasRevision() ? Number(options.getRevision()) : 'any';
}

function appendAnswer(outcome: AppendOutcome, options: Options): AppendResp {
  const answer = new messages.AppendResp();
  if (outcome.kind === 'refused')
    return answer.setWrongExpectedVersion(wrongVersion(outcome.actual, options));
  const { revision, position } = outcome.last;
  const written = new messages.AppendResp.Position()
    .setCommitPosition(String(position))
    .setPreparePosition(String(position));
  const success = new messages.AppendResp.Success().setCurrentRevision(String(revision)).setPosition(written);
  return answer.setSuccess(success);
}

function wrongVersion(actual: number, options: Options) {
  const wrong = new messages.AppendResp.WrongExpectedVersion();
  if (actual >= 0) wrong.setCurrentRevision(String(actual));
  else wrong.setCurrentNoStream(new sharedMessages.Empty());
  if (options?.hasRevision()) wrong.setExpectedRevision(options.getRevision());
  else if (options?.hasStreamExists()) wrong.setExpectedStreamExists(new sharedMessages.Empty());
  else wrong.setExpectedNoStream(new sharedMessages.Empty());
  return wrong;
}
