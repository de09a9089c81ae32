import { setTimeout as pause } from 'node:timers/promises';
import { tarOf } from '../archives/archive-builders.ts';
import {
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  final,
  formOf,
  formType,
  helloEntry,
  partial,
} from './deposit-bodies.ts';
import type { Answered } from './deposit-histories.ts';

export type RetryingDepositorOptions = {
  /** Two nodes of one service. */
  readonly nodes: readonly [string, string];
  readonly authorization: string;
  readonly collection: string;
  /** Longest wait after a 503 in milliseconds, if its `Retry-After` requests more. */
  readonly longestPause?: number;
};

type Body = string | Buffer;

const FINAL = new Set(['done', 'rejected', 'failed']);

/**
 * A client that deposits over two nodes in several ways, requests the status from the other node after every 201, and
 * repeats requests that were answered 503 after the requested pause.
 */
export class RetryingDepositor implements Answered {
  readonly acknowledged = new Map<string, string>();
  readonly refused = new Set<string>();
  /** Faults of the service, a sentence each. */
  readonly faults: string[] = [];
  /** Statuses of acknowledged deposits that the other node answered with 404. */
  falseMissing = 0;
  /** Number of answers 503. */
  unavailable = 0;
  readonly #options: RetryingDepositorOptions;

  constructor(options: RetryingDepositorOptions) {
    this.#options = options;
  }

  /** Makes one deposit, complete when this resolves. The turn selects the way and the first node. */
  async deposit(turn: number, archive = archiveOf(turn)): Promise<string> {
    const { nodes } = this.#options;
    const [here, there] = turn % 2 === 0 ? nodes : ([nodes[1], nodes[0]] as const);
    const binary = archiveHeaders('source.tar', 'application/x-tar');
    const form = formOf([archivePart(archive, 'source.tar', 'application/x-tar'), entryPart()]);
    const to = { here, there };
    switch ((turn >> 1) % 4) {
      case 0:
        return this.#acknowledge(await this.#create(to, form, { ...formType, ...final }));
      case 1: {
        const created = await this.#create(to, archive, { ...binary, ...partial });
        await this.#complete(here, there, created, 'metadata', helloEntry, entryHeaders());
        return this.#acknowledge(created);
      }
      case 2: {
        const created = await this.#create(to, form, { ...formType, ...partial });
        await this.#complete(there, here, created, 'metadata', '', {});
        return this.#acknowledge(created);
      }
      default: {
        const created = await this.#create(to, helloEntry, { ...entryHeaders(), ...partial });
        await this.#complete(there, here, created, 'media', archive, binary);
        return this.#acknowledge(created);
      }
    }
  }

  /** Resolves to the status word of a node; `undefined` for 404. */
  async status(node: string, id: string): Promise<string | undefined> {
    for (;;) {
      const answer = await this.#send('GET', `${node}/1/${this.#options.collection}/${id}/status/`);
      const body = await answer.text();
      if (answer.status === 404) return undefined;
      if (answer.ok) return /<deposit_status>(\w+)</.exec(body)?.[1] ?? 'none';
      await this.#awaitRetry(answer, body);
    }
  }

  /** Resolves to the status word once it is `done`, `rejected` or `failed`, or to the one at the deadline. */
  async finalStatus(node: string, id: string, deadline: number): Promise<string | undefined> {
    for (;;) {
      const status = await this.status(node, id);
      if (status === undefined || FINAL.has(status) || performance.now() > deadline) return status;
      await pause(20);
    }
  }

  async #create(
    { here, there }: { here: string; there: string },
    body: Body,
    headers: Record<string, string>,
  ): Promise<Created> {
    const url = `${here}/1/${this.#options.collection}/`;
    for (;;) {
      const answer = await this.#send('POST', url, body, headers);
      const text = await answer.text();
      const requestId = answer.headers.get('x-request-id') ?? '';
      if (answer.status === 201) {
        const id = /<deposit_id>(\d+)</.exec(text)?.[1] ?? '';
        await this.#askOther(there, id);
        return { id, requestId };
      }
      this.refused.add(requestId);
      await this.#awaitRetry(answer, text);
    }
  }

  /** Sends the last request of a deposit; one answered 503 may have been executed, and is then refused. */
  async #complete(
    node: string,
    other: string,
    { id }: Created,
    iri: 'metadata' | 'media',
    body: Body,
    headers: Record<string, string>,
  ): Promise<void> {
    const url = `${node}/1/${this.#options.collection}/${id}/${iri}/`;
    for (let repeated = false; ; repeated = true) {
      const answer = await this.#send('POST', url, body, { ...headers, ...final });
      const text = await answer.text();
      if (answer.ok || (repeated && answer.status === 405)) return this.#askOther(other, id);
      if (answer.status === 404) this.falseMissing += 1;
      await this.#awaitRetry(answer, text);
    }
  }

  async #askOther(node: string, id: string): Promise<void> {
    if ((await this.status(node, id)) === undefined) {
      this.falseMissing += 1;
      this.faults.push(`Deposit ${id} was acknowledged but is unknown at ${node}.`);
    }
  }

  #acknowledge({ id, requestId }: Created): string {
    if (this.acknowledged.has(id)) this.faults.push(`The id ${id} was given to two deposits.`);
    this.acknowledged.set(id, requestId);
    return id;
  }

  /** Waits before a retry. @throws the answer does not allow a retry. */
  async #awaitRetry(answer: Response, body: string): Promise<void> {
    if (answer.status !== 503) throw new Error(`${answer.url} answered ${answer.status}: ${body}`);
    this.unavailable += 1;
    const seconds = Number(answer.headers.get('retry-after') ?? 'none');
    if (!(seconds > 0)) this.faults.push(`${answer.url} answered 503 without a Retry-After.`);
    await pause(Math.min((seconds || 1) * 1000, this.#options.longestPause ?? Infinity));
  }

  #send(method: string, url: string, body?: Body, headers: Record<string, string> = {}): Promise<Response> {
    const { authorization } = this.#options;
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) };
    // The server may close an idle connection while a request is sent on it.
    const own = { Authorization: authorization, Connection: 'close' };
    return fetch(url, { method, headers: { ...headers, ...own }, ...sent });
  }
}

type Created = { readonly id: string; readonly requestId: string };

/** Returns a different archive for every deposit; every eighth is larger than what is sent in memory. */
function archiveOf(turn: number): Buffer {
  const filler = turn % 8 === 7 ? 'x'.repeat(200_000) : '';
  return tarOf([{ name: 'drill/seed.txt', data: `${turn}${filler}` }]);
}
