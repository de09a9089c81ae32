import { setTimeout as pause } from 'node:timers/promises';
import { tarOf } from './archive-builders.ts';
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
import type { Told } from './deposit-histories.ts';

export type PatientDepositorOptions = {
  /** Two nodes of one service. */
  readonly nodes: readonly [string, string];
  readonly authorization: string;
  readonly collection: string;
  /** Milliseconds to wait after a 503, where its `Retry-After` asks for more. */
  readonly longestPause?: number;
};

type Body = string | Buffer;

const FINAL = new Set(['done', 'rejected', 'failed']);

/**
 * A client that deposits over two nodes in several ways, asks the other node for the status after every 201, and
 * repeats what was answered 503, as it is told to.
 */
export class PatientDepositor implements Told {
  readonly acknowledged = new Map<string, string>();
  readonly refused = new Set<string>();
  /** What must never happen, a sentence each. */
  readonly faults: string[] = [];
  /** Statuses of acknowledged deposits that the other node answered with 404. */
  falseMissing = 0;
  /** Answers 503. */
  unavailable = 0;
  readonly #options: PatientDepositorOptions;

  constructor(options: PatientDepositorOptions) {
    this.#options = options;
  }

  /** One deposit, complete when this resolves. The turn tells the way and which node comes first. */
  async deposit(turn: number): Promise<string> {
    const { nodes } = this.#options;
    const [here, there] = turn % 2 === 0 ? nodes : ([nodes[1], nodes[0]] as const);
    const archive = archiveOf(turn);
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

  /** The status word as a node tells it; `undefined` for 404. */
  async status(node: string, id: string): Promise<string | undefined> {
    for (;;) {
      const answer = await this.#send('GET', `${node}/1/${this.#options.collection}/${id}/status/`);
      const body = await answer.text();
      if (answer.status === 404) return undefined;
      if (answer.ok) return /<deposit_status>(\w+)</.exec(body)?.[1] ?? 'none';
      await this.#patience(answer, body);
    }
  }

  /** The status word once it is `done`, `rejected` or `failed`, or whatever it is at the deadline. */
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
      await this.#patience(answer, text);
    }
  }

  /** The last request of a deposit. One that was answered 503 may have been done: then its repetition is refused. */
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
      await this.#patience(answer, text);
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

  /** @throws the answer was none that time heals. */
  async #patience(answer: Response, body: string): Promise<void> {
    if (answer.status !== 503) throw new Error(`${answer.url} answered ${answer.status}: ${body}`);
    this.unavailable += 1;
    const seconds = Number(answer.headers.get('retry-after') ?? 'none');
    if (!(seconds > 0)) this.faults.push(`${answer.url} answered 503 without a Retry-After.`);
    await pause(Math.min((seconds || 1) * 1000, this.#options.longestPause ?? Infinity));
  }

  #send(method: string, url: string, body?: Body, headers: Record<string, string> = {}): Promise<Response> {
    const { authorization } = this.#options;
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) };
    // An idle connection may be closed by the server while a request is sent on it.
    const own = { Authorization: authorization, Connection: 'close' };
    return fetch(url, { method, headers: { ...headers, ...own }, ...sent });
  }
}

type Created = { readonly id: string; readonly requestId: string };

/** One of its own for every deposit; every eighth is larger than what is sent in memory. */
function archiveOf(turn: number): Buffer {
  const filler = turn % 8 === 7 ? 'x'.repeat(200_000) : '';
  return tarOf([{ name: 'drill/seed.txt', data: `${turn}${filler}` }]);
}
