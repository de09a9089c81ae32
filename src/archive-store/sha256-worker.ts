/** The thread that computes SHA-256 for many bodies at once, each a session of updates and one digest. */
import { createHash, type Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { type Answer, type Call, faultOf } from './worker-calls.ts';

export type Sha256Request =
  | {
      readonly kind: 'update';
      readonly session: number;
      readonly first: boolean;
      readonly batch: ArrayBuffer;
      readonly length: number;
    }
  | { readonly kind: 'digest' | 'abandon'; readonly session: number };

/** An update gives its batch back, to be filled again; a digest is hexadecimal. */
export type Sha256Reply = ArrayBuffer | string | undefined;

const sessions = new Map<number, Hash>();

parentPort?.on('message', ({ call, request }: Call<Sha256Request>) => {
  try {
    answer({ call, reply: reply(request) });
  } catch (error) {
    answer({ call, fault: faultOf(error) });
  }
});

function answer(answer: Answer<Sha256Reply>): void {
  const batch = 'reply' in answer && answer.reply instanceof ArrayBuffer ? [answer.reply] : [];
  parentPort?.postMessage([answer], batch);
}

function reply(request: Sha256Request): Sha256Reply {
  switch (request.kind) {
    case 'update':
      if (request.first) sessions.set(request.session, createHash('sha256'));
      sessionOf(request).update(new Uint8Array(request.batch, 0, request.length));
      return request.batch;
    case 'digest':
      return end(request).digest('hex');
    case 'abandon':
      sessions.delete(request.session);
      return undefined;
    default:
      throw new Error(`unknown request ${JSON.stringify(request satisfies never)}`);
  }
}

function end(request: Sha256Request): Hash {
  const hash = sessionOf(request);
  sessions.delete(request.session);
  return hash;
}

/** A worker that was started again knows nothing of older sessions, and must not begin them anew. */
function sessionOf({ session }: Sha256Request): Hash {
  const hash = sessions.get(session);
  if (hash === undefined) throw new Error(`the hashing session ${session} is lost`);
  return hash;
}
