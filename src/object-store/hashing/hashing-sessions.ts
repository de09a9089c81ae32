import { createHash, type Hash } from 'node:crypto';
import type { ThreadPort } from '../../tools/concurrency/thread-port.ts';
import { type Answer, answerTo, type Call } from '../../tools/concurrency/worker-client.ts';

/** Lower-case hexadecimal digits; MD5 only if requested. */
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
  | { readonly kind: 'digest' | 'end'; readonly session: number };

/** The reply to an update returns its batch for reuse. */
export type HashingReply = ArrayBuffer | BodyDigests | undefined;

type Hashes = { readonly sha256: Hash; readonly md5: Hash | undefined };

/** Runs the thread that hashes many bodies at once, each a session of updates and digests. */
export function runHashingSessions(
  port: ThreadPort<Call<HashingRequest>, readonly Answer<HashingReply>[]>,
): void {
  const sessions = new Map<number, Hashes>();
  port.onMessage((call) => {
    const answer = answerTo(call, () => replyTo(call.request));
    const batch = 'reply' in answer && answer.reply instanceof ArrayBuffer ? [answer.reply] : [];
    port.send([answer], batch);
  });

  function replyTo(request: HashingRequest): HashingReply {
    switch (request.kind) {
      case 'update':
        if (request.first) sessions.set(request.session, begin(request.md5));
        update(sessionOf(request), new Uint8Array(request.batch, 0, request.length));
        return request.batch;
      case 'digest':
        return digestsOf(sessionOf(request));
      case 'end':
        sessions.delete(request.session);
        return undefined;
      default:
        throw new Error(`unknown request ${JSON.stringify(request satisfies never)}`);
    }
  }

  /** Returns the hashes of a session. A restarted worker has lost older sessions, and must not begin them again. */
  function sessionOf({ session }: { readonly session: number }): Hashes {
    const hashes = sessions.get(session);
    if (hashes === undefined) throw new Error(`the hashing session ${session} is lost`);
    return hashes;
  }
}

function begin(md5: boolean): Hashes {
  return { sha256: createHash('sha256'), md5: md5 ? createHash('md5') : undefined };
}

function update({ sha256, md5 }: Hashes, bytes: Uint8Array): void {
  sha256.update(bytes);
  md5?.update(bytes);
}

function digestsOf({ sha256, md5 }: Hashes): BodyDigests {
  return { sha256: sha256.copy().digest('hex'), md5: md5?.copy().digest('hex') };
}
