/** The thread that hashes many bodies at once, each a session of updates and one digest. */
import { createHash, type Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { type Answer, type Call, faultOf } from './worker-calls.ts';

/** Lower-case hexadecimal digits; MD5 only where it was asked for. */
export type BodyDigests = { readonly sha256: string; readonly md5: string | undefined };

export type HashingRequest =
  | {
      readonly kind: 'update';
      readonly session: number;
      readonly first: boolean;
      /** Whether the session computes MD5, too. */
      readonly md5: boolean;
      readonly batch: ArrayBuffer;
      readonly length: number;
    }
  | { readonly kind: 'digest' | 'abandon'; readonly session: number };

/** An update gives its batch back, to be filled again. */
export type HashingReply = ArrayBuffer | BodyDigests | undefined;

type Hashes = { readonly sha256: Hash; readonly md5: Hash | undefined };

const sessions = new Map<number, Hashes>();

parentPort?.on('message', ({ call, request }: Call<HashingRequest>) => {
  try {
    answer({ call, reply: reply(request) });
  } catch (error) {
    answer({ call, fault: faultOf(error) });
  }
});

function answer(answer: Answer<HashingReply>): void {
  const batch = 'reply' in answer && answer.reply instanceof ArrayBuffer ? [answer.reply] : [];
  parentPort?.postMessage([answer], batch);
}

function reply(request: HashingRequest): HashingReply {
  switch (request.kind) {
    case 'update':
      if (request.first) sessions.set(request.session, begin(request.md5));
      update(sessionOf(request), new Uint8Array(request.batch, 0, request.length));
      return request.batch;
    case 'digest':
      return end(request);
    case 'abandon':
      sessions.delete(request.session);
      return undefined;
    default:
      throw new Error(`unknown request ${JSON.stringify(request satisfies never)}`);
  }
}

function begin(md5: boolean): Hashes {
  return { sha256: createHash('sha256'), md5: md5 ? createHash('md5') : undefined };
}

function update({ sha256, md5 }: Hashes, bytes: Uint8Array): void {
  sha256.update(bytes);
  md5?.update(bytes);
}

function end(request: { readonly session: number }): BodyDigests {
  const { sha256, md5 } = sessionOf(request);
  sessions.delete(request.session);
  return { sha256: sha256.digest('hex'), md5: md5?.digest('hex') };
}

/** A worker that was started again knows nothing of older sessions, and must not begin them anew. */
function sessionOf({ session }: { readonly session: number }): Hashes {
  const hashes = sessions.get(session);
  if (hashes === undefined) throw new Error(`the hashing session ${session} is lost`);
  return hashes;
}
