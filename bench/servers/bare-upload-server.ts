import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

/*
 * An upload as it is usually written with node:http. The body goes through both hashes, in the main thread, into a
 * file that is synced, renamed and synced in its folder. It is as durable as the upload of the service.
 */
const { folder, port } = JSON.parse(process.argv[2] ?? '{}') as { folder: string; port: number };

const server = createServer((req, res) => {
  if (req.method === 'GET') return void res.end('ready');
  receive(req).then(
    (digest) => res.writeHead(201, { 'Content-Length': digest.length }).end(digest),
    (error: unknown) => res.writeHead(500, { 'Content-Length': 0 }).end(String(error)),
  );
});
server.listen(port, '127.0.0.1');

async function receive(req: IncomingMessage): Promise<string> {
  const [md5, sha256] = [createHash('md5'), createHash('sha256')];
  const incoming = path.join(folder, randomUUID());
  const hashed = async function* (body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      md5.update(chunk);
      sha256.update(chunk);
      yield chunk;
    }
  };
  await pipeline(req, hashed, createWriteStream(incoming, { flush: true, highWaterMark: 1024 ** 2 }));
  if (md5.digest('hex') !== req.headers['content-md5']) throw new Error('The MD5 is another.');
  const digest = sha256.digest('hex');
  await rename(incoming, path.join(folder, digest));
  await syncFolder();
  return digest;
}

async function syncFolder(): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}
