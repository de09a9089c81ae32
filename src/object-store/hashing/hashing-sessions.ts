import { createHash, type Hash } from 'node:crypto';
import type { ThreadPort } from '../../tools/concurrency/thread-port.ts';
import { type Answer, answerTo, type Call } from '../../tools/concurrency/worker-client.ts';
import type { BodyDigests, HashingReply, HashingRequest } from './hashing-messages.ts';

type Hashes = { readonly sha256: Hash; readonly md5: Hash | undefined };

/** The program of the thread that hashes many bodies at once, each a session of updates and digests. */
export class HashingSessions {
  readonly #port: ThreadPort<Call<HashingRequest>, readonly Answer<HashingReply>[]>;
  readonly #sessions = new Map<number, Hashes>();

  constructor(port: ThreadPort<Call<HashingRequest>, readonly Answer<HashingReply>[]>) {
    this.#port = port;
  }

  run(): void {
    this.#port.onMessage((call) => {
      const answer = answerTo(call, () => this.#reply(call.request));
      const batch = 'reply' in answer && answer.reply instanceof ArrayBuffer ? [answer.reply] : [];
      this.#port.send([answer], batch);
    });
  }

  #reply(request: HashingRequest): HashingReply {
    switch (request.kind) {
      case 'update':
        if (request.first) this.#sessions.set(request.session, begin(request.md5));
        update(this.#sessionOf(request), new Uint8Array(request.batch, 0, request.length));
        return request.batch;
      case 'digest':
        return digestsOf(this.#sessionOf(request));
      case 'end':
        this.#sessions.delete(request.session);
        return undefined;
      default:
        throw new Error(`unknown request ${JSON.stringify(request satisfies never)}`);
    }
  }

  /** Returns the hashes of a session. A restarted worker has lost older sessions, and must not begin them again. */
  #sessionOf({ session }: { readonly session: number }): Hashes {
    const hashes = this.#sessions.get(session);
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

/** Returns the digests of the bytes so far. */
function digestsOf({ sha256, md5 }: Hashes): BodyDigests {
  return { sha256: sha256.copy().digest('hex'), md5: md5?.copy().digest('hex') };
}
