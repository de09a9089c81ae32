import { subscribe } from 'node:diagnostics_channel';
import type { OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { gzipSync } from 'node:zlib';

type Frame = { readonly stream: ServerHttp2Stream; readonly headers: Readonly<Record<string, string>> };

const PREFIX_BYTES = 5;
const ports = new Set<number>();
let isWatching = false;

/**
 * Compresses each message that the server at this port sends on calls whose headers accept gzip, which @grpc/grpc-js
 * cannot do itself. It writes each message, with its prefix of five bytes, in one call. Returns what ends it.
 */
export function compressAnswers(port: number): () => void {
  ports.add(port);
  if (!isWatching) subscribe('http2.server.stream.created', (message) => compress(message as Frame));
  isWatching = true;
  return () => ports.delete(port);
}

function compress({ stream, headers }: Frame): void {
  const { localPort = 0 } = stream.session?.socket ?? {};
  if (!ports.has(localPort) || !/\bgzip\b/.test(headers['grpc-accept-encoding'] ?? '')) return;
  const respond = stream.respond.bind(stream);
  stream.respond = (answer?: OutgoingHttpHeaders, options?: Parameters<typeof respond>[1]) =>
    respond({ ...answer, 'grpc-encoding': 'gzip' }, options);
  const write = stream.write.bind(stream) as (frame: Uint8Array, ...rest: unknown[]) => boolean;
  stream.write = (frame: Uint8Array, ...rest: unknown[]) => write(compressed(frame), ...rest);
}

function compressed(frame: Uint8Array): Uint8Array {
  const packed = gzipSync(frame.subarray(PREFIX_BYTES), { level: 1 });
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt8(1, 0);
  prefix.writeUInt32BE(packed.length, 1);
  return Buffer.concat([prefix, packed]);
}
