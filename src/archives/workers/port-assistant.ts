import type { MessagePort } from 'node:worker_threads';
import { codedError } from '../../tools/coded-error.ts';
import { type ReadMember, readBatch, type ZipBatch } from '../zip/zip-batch.ts';
import type { Assistant } from '../zip/zip-batches.ts';
import type { Answer, Assistance, Offer, SentBatch } from './assistance.ts';

/** Batches of one thread: one that is read, and one that waits, so that it has the next at once. */
const AHEAD = 2;

/** Offers batches to the threads at the other end of a port. */
export class PortAssistant implements Assistant {
  readonly #port: MessagePort;
  readonly #most: number;
  readonly #offered = new Map<number, PromiseWithResolvers<readonly ReadMember[]>>();
  #offers = 0;

  constructor({ port, threads }: Assistance) {
    this.#port = port;
    this.#most = AHEAD * threads;
    port.on('message', (answer: Answer) => this.#receive(answer));
    port.on('close', () => {
      const died = codedError('ASSISTANT_DIED', 'A thread that read a part of the archive has died.');
      for (const { reject } of this.#offered.values()) reject(died);
    });
  }

  get isFree(): boolean {
    return this.#offered.size < this.#most;
  }

  read({ bytes, members }: ZipBatch): Promise<readonly ReadMember[]> {
    const id = this.#offers++;
    const offered = Promise.withResolvers<readonly ReadMember[]>();
    this.#offered.set(id, offered);
    const batch = { bytes, members: JSON.stringify(members) };
    this.#port.postMessage({ id, batch } satisfies Offer, [bytes.buffer]);
    return offered.promise;
  }

  #receive(answer: Answer): void {
    const offered = this.#offered.get(answer.id);
    this.#offered.delete(answer.id);
    offered?.resolve(
      JSON.parse('read' in answer ? answer.read : readSentBatch(answer.batch)) as ReadMember[],
    );
  }
}

/** Returns the members that were read, as JSON. */
export function readSentBatch({ bytes, members }: SentBatch): string {
  return JSON.stringify(readBatch({ bytes, members: JSON.parse(members) as ZipBatch['members'] }));
}
