import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { S3Refusal } from './s3-refusal.ts';

/** Bytes in a file of their own. */
export type S3Body = { readonly file: string; readonly length: number; readonly md5: string };

type Receiving = {
  readonly request: IncomingMessage;
  readonly folder: string;
  readonly ignoresDigests: boolean;
};

/** Stores the body of a request, once it is complete and as the headers describe it. */
export async function receiveBody({ request, folder, ignoresDigests }: Receiving): Promise<S3Body> {
  assertMd5(request.headers);
  const sha256 = createHash('sha256');
  const body = await keep(folder, request, (chunk) => sha256.update(chunk));
  const fault = faultIn(request, body, ignoresDigests ? undefined : sha256.digest('hex'));
  if (fault === undefined) return body;
  await rm(body.file);
  throw new S3Refusal(400, fault);
}

/** Concatenates the bytes of all of them. */
export function joinBodies(bodies: readonly S3Body[], folder: string): Promise<S3Body> {
  async function* joined() {
    for (const { file } of bodies) yield* createReadStream(file);
  }
  return keep(folder, joined());
}

async function keep(
  folder: string,
  source: AsyncIterable<Buffer>,
  onChunk: (chunk: Buffer) => unknown = () => {},
): Promise<S3Body> {
  const file = path.join(folder, randomUUID());
  const md5 = createHash('md5');
  let length = 0;
  async function* counted(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      onChunk(chunk);
      md5.update(chunk);
      length += chunk.length;
      yield chunk;
    }
  }
  try {
    await pipeline(source, counted, createWriteStream(file));
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
  return { file, length, md5: md5.digest('hex') };
}

function assertMd5({ 'content-md5': sent }: IncomingHttpHeaders): void {
  if (sent === undefined) return;
  const bytes = Buffer.from(String(sent), 'base64');
  if (bytes.length !== 16 || bytes.toString('base64') !== sent) throw new S3Refusal(400, 'InvalidDigest');
}

function faultIn(
  { headers }: IncomingMessage,
  { length, md5 }: S3Body,
  sha256: string | undefined,
): string | undefined {
  const signed = headers['x-amz-content-sha256'];
  const md5Sent = headers['content-md5'];
  if (headers['content-length'] !== String(length)) return 'IncompleteBody';
  if (md5Sent !== undefined && md5Sent !== Buffer.from(md5, 'hex').toString('base64')) return 'BadDigest';
  if (signed !== 'UNSIGNED-PAYLOAD' && signed !== (sha256 ?? signed)) return 'XAmzContentSHA256Mismatch';
  return undefined;
}
