import { once } from 'node:events';
import { connect } from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { type RulesServer, rule, rulesServer } from './server.ts';

const PATH = '/event_store.client.server_features.ServerFeatures/GetSupportedMethods';
const PREFIX_BYTES = 5;

/** Rules about the bytes on the wire. */
export function channelRules(): void {
  rule('both', 'messages are compressed with gzip whenever the headers of a call allow it', async (t) => {
    const server = await rulesServer(t);
    const plain = await answer(server, {});
    t.is(plain.message[0], 0);
    const packed = await answer(server, { 'grpc-accept-encoding': 'identity,deflate,gzip' });
    t.is(packed.message[0], 1);
    t.is(packed.encoding, 'gzip');
    t.deepEqual(gunzipSync(packed.message.subarray(PREFIX_BYTES)), plain.message.subarray(PREFIX_BYTES));
  });
}

/** Calls without the client library, which always allows gzip. */
async function answer({ connectionString }: RulesServer, headers: Readonly<Record<string, string>>) {
  const [, host = ''] = /^[^/]*\/\/(?:[^@/]*@)?([^,/?]+)/.exec(connectionString) ?? [];
  const scheme = /[?&]tls=false\b/i.test(connectionString) ? 'http' : 'https';
  const session = connect(`${scheme}://${host}`, { rejectUnauthorized: false });
  const stream = session.request({
    ':method': 'POST',
    ':path': PATH,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  stream.end(Buffer.alloc(PREFIX_BYTES)); // an empty message
  const [response] = (await once(stream, 'response')) as [Readonly<Record<string, string>>];
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  session.close();
  return { message: Buffer.concat(chunks), encoding: response['grpc-encoding'] };
}
