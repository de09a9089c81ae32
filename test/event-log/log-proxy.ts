import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { AppendReq, AppendResp, ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import {
  credentials,
  Server,
  ServerCredentials,
  type ServerReadableStream,
  type ServerWritableStream,
  type ServiceError,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { ExecutionContext } from 'ava';

/** Handlers that change calls; without one they pass unchanged. */
export type Interference = {
  /** Runs before a read or a subscription is passed on. */
  readonly beforeRead?: (options: ReadReq.Options) => Promise<unknown> | undefined;
  /** Returns what the client gets in place of one message of a read or a subscription. */
  readonly answers?: (
    message: ReadResp,
    options: ReadReq.Options,
  ) => readonly ReadResp[] | Promise<readonly ReadResp[]>;
  /** Returns what the client gets in place of the answer to an append; nothing: it never gets one. */
  readonly appended?: (answer: AppendResp) => AppendResp | undefined;
};

/** Starts a gRPC server that passes appends, reads and subscriptions on to another one. Returns how a client finds it. */
export async function startLogProxy(
  t: ExecutionContext,
  target: number,
  { beforeRead, answers, appended }: Interference,
): Promise<string> {
  const client = new streamServices.StreamsClient(`127.0.0.1:${target}`, credentials.createInsecure());
  const streams = {
    read: async (call: ServerWritableStream<ReadReq, ReadResp>) => {
      const options = call.request.getOptions() as ReadReq.Options; // every read has them
      await beforeRead?.(options);
      const source = client.read(call.request, call.metadata);
      call.on('cancelled', () => source.cancel());
      try {
        for await (const message of source as AsyncIterable<ReadResp>) {
          for (const one of (await answers?.(message, options)) ?? [message]) call.write(one);
        }
        call.end();
      } catch (error) {
        call.emit('error', error as ServiceError); // of the other server
      }
    },
    append: async (call: ServerReadableStream<AppendReq, AppendResp>, answer: sendUnaryData<AppendResp>) => {
      const sink = client.append(call.metadata, (error, response) => {
        if (error || !appended) return answer(error, response);
        const altered = appended(response);
        if (altered) answer(null, altered);
      });
      for await (const request of call as AsyncIterable<AppendReq>) sink.write(request);
      sink.end();
    },
  };
  const server = new Server();
  server.addService(streamServices.StreamsService, streams satisfies UntypedServiceImplementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  t.teardown(() => {
    server.forceShutdown();
    client.close();
  });
  return `esdb://127.0.0.1:${port}?tls=false`;
}
