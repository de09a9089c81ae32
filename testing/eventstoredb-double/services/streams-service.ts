import type {
  AppendReq,
  AppendResp,
  DeleteReq,
  DeleteResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerReadableStream, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { answerAppend } from './append-call.ts';
import { refusal } from './fault-switches.ts';
import { serveRead } from './read-call.ts';
import { refusalOf, type ServiceContext } from './service-context.ts';
import { type ReadCall, streamOf } from './wire-events.ts';

export function streamsService(context: ServiceContext) {
  return {
    append: (call: ServerReadableStream<AppendReq, AppendResp>, answer: sendUnaryData<AppendResp>) =>
      void answerAppend(context, call, answer).catch((error: unknown) => answer(error as Error)),
    read: (call: ReadCall) =>
      void serveRead(context, call).catch((error: unknown) => call.emit('error', error as Error)),
    delete: (call: ServerUnaryCall<DeleteReq, DeleteResp>, answer: sendUnaryData<DeleteResp>) =>
      void answerDelete(context, call, answer).catch((error: unknown) => answer(error as Error)),
  };
}

/** Deletes a stream so that appends can bring it back, whatever revision is expected. */
async function answerDelete(
  context: ServiceContext,
  { request, metadata }: ServerUnaryCall<DeleteReq, DeleteResp>,
  answer: sendUnaryData<DeleteResp>,
): Promise<void> {
  const stream = streamOf(request.getOptions()?.getStreamIdentifier());
  const fault = context.faults.meet('delete');
  const refused = await refusalOf(context, metadata, { fault, deed: { do: 'delete', stream } });
  const writer = context.cluster.writer(context.node);
  if (refused || !writer) return answer(refused ?? refusal(status.UNAVAILABLE));
  const outcome = await writer.delete(stream);
  const position = outcome.kind === 'refused' ? 0n : outcome.last.position;
  const written = new messages.DeleteResp.Position()
    .setCommitPosition(String(position))
    .setPreparePosition(String(position));
  answer(null, new messages.DeleteResp().setPosition(written));
}
