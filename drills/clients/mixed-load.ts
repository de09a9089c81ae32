import { hash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { newTar } from './answered-deposits.ts';
import { Ledger, type WatchedDeposit } from './watched-deposit.ts';

type Headers = Readonly<Record<string, string>>;
type Create = {
  readonly body: string | Buffer;
  readonly headers: Headers;
  readonly archive?: Buffer;
  readonly title?: string;
};
type Answer = { readonly status: number; readonly body: string };

const binary = archiveHeaders('a.tar', 'application/x-tar');

/**
 * Writers that deposit repeatedly, in several ways: forms and binaries, complete in one request or in steps with PUT
 * and empty POST, some with an Idempotency-Key. They continue over restarts of the service and record what it has
 * acknowledged.
 */
export class MixedLoad {
  readonly ledger = new Ledger();
  readonly #client: TestClient;
  readonly #headers: Headers;
  readonly #writers: Promise<void>[];
  #isOver = false;

  /** `headers` are sent with every request. */
  constructor(
    client: TestClient,
    { writers = 4, headers = {} }: { writers?: number; headers?: Headers } = {},
  ) {
    this.#client = client;
    this.#headers = headers;
    this.#writers = Array.from({ length: writers }, async (_, writer) => {
      for (let turn = writer; !this.#isOver; turn += 1) await this.#deposit(turn);
    });
  }

  /** Resolves when no request is open. Unfinished deposits stay as they are. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#writers);
  }

  async #deposit(turn: number): Promise<void> {
    const key = { 'Idempotency-Key': randomUUID() };
    switch (turn % 5) {
      case 0:
        await this.#create(
          { ...formWith(newTar(20), newTitle()), headers: { ...formType, ...final, ...key } },
          true,
        );
        return;
      case 1: {
        const form = formWith(newTar(300_000), newTitle());
        await this.#create({ ...form, headers: { ...formType, ...final } });
        return;
      }
      case 2: {
        const archive = newTar(2000);
        await this.#create({ archive, body: archive, headers: { ...binary, ...final } });
        return;
      }
      case 3:
        return this.#stepByStep(newTar(50));
      default:
        return this.#metadataFirst(key);
    }
  }

  /** Sends the archive, replaces it some times, then metadata, replaces them, then completes. */
  async #stepByStep(archive: Buffer): Promise<void> {
    const deposit = await this.#create({ archive, body: archive, headers: { ...binary, ...partial } });
    if (!deposit) return;
    for (const size of [80_000, 30]) await this.#put(deposit, 'media', newTar(size), binary);
    for (let times = 0; times < 2; times += 1) {
      const title = newTitle();
      await this.#put(deposit, 'metadata', entryWith(title), entryHeaders(), title);
    }
    await this.#finish(deposit);
  }

  async #metadataFirst(key: Headers): Promise<void> {
    const title = newTitle();
    const entry = { title, body: entryWith(title), headers: { ...entryHeaders(), ...partial, ...key } };
    const deposit = await this.#create(entry, true);
    if (!deposit) return;
    const archive = newTar(700);
    const headers = { ...binary, ...partial, 'Idempotency-Key': randomUUID() };
    deposit.archive.send(hash('sha256', archive));
    const answer = await this.#again(() => this.#send('POST', iri(deposit, 'media'), archive, headers));
    if (answer && this.#mustBe(201, answer)) deposit.archive.acknowledge(hash('sha256', archive));
    await this.#finish(deposit);
  }

  /** Resolves to the deposit if it was acknowledged. */
  async #create(
    { body, headers, archive, title }: Create,
    isKeyed = false,
  ): Promise<WatchedDeposit | undefined> {
    this.ledger.creates.add(hash('sha256', archive ?? body));
    const post = (): Promise<Answer | undefined> => this.#send('POST', '/1/drill/', body, headers);
    const answer = isKeyed ? await this.#again(post) : await post();
    if (!answer && !isKeyed) this.ledger.unansweredCreates.add(hash('sha256', archive ?? body));
    if (answer?.status === 503 || !answer || !this.#mustBe(201, answer)) return undefined;
    const deposit = this.ledger.created(/<deposit_id>(\d+)</.exec(answer.body)?.[1] ?? '');
    if (archive) deposit.archive.acknowledge(hash('sha256', archive));
    if (title !== undefined) deposit.title.acknowledge(title);
    if (headers['In-Progress'] === 'false') deposit.final = 'acknowledged';
    return deposit;
  }

  async #put(
    deposit: WatchedDeposit,
    part: 'media' | 'metadata',
    body: string | Buffer,
    headers: Headers,
    title?: string,
  ): Promise<void> {
    const [written, value] =
      title === undefined ? [deposit.archive, hash('sha256', body)] : [deposit.title, title];
    written.send(value);
    const answer = await this.#again(() =>
      this.#send('PUT', iri(deposit, part), body, { ...headers, ...partial }),
    );
    if (answer && this.#mustBe(204, answer)) written.acknowledge(value);
  }

  async #finish(deposit: WatchedDeposit): Promise<void> {
    if (this.#isOver) return;
    deposit.final = 'sent';
    const answer = await this.#again(() => this.#send('POST', iri(deposit, 'metadata'), null, final));
    if (answer && this.#mustBe(200, answer)) deposit.final = 'acknowledged';
  }

  /** Repeats the request until a ready service answers or the load ends. */
  async #again(send: () => Promise<Answer | undefined>): Promise<Answer | undefined> {
    while (!this.#isOver) {
      const answer = await send();
      if (answer && answer.status !== 503) return answer;
    }
    return undefined;
  }

  /** Resolves to `undefined` if there was no answer. */
  async #send(
    method: string,
    target: string,
    body: string | Buffer | null,
    headers: Headers,
  ): Promise<Answer | undefined> {
    const sent = typeof body === 'object' && body ? new Uint8Array(body) : body;
    try {
      const all = { ...this.#headers, ...headers };
      const response = await this.#client.send(method, target, { body: sent, headers: all });
      const answer = { status: response.status, body: await response.text() };
      if (answer.status === 503) await pause(20);
      return answer;
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } };
      const code = cause?.code ?? 'UNKNOWN';
      this.ledger.errors.set(code, (this.ledger.errors.get(code) ?? 0) + 1);
      if (code !== 'ECONNREFUSED') this.ledger.unanswered += 1;
      await pause(20);
      return undefined;
    }
  }

  #mustBe(status: number, answer: Answer): boolean {
    if (answer.status === status) {
      this.ledger.acknowledged += 1;
      return true;
    }
    this.ledger.faults.push(`${answer.status} instead of ${status}: ${answer.body.slice(0, 500)}`);
    return false;
  }
}

function iri({ id }: WatchedDeposit, part: 'media' | 'metadata'): string {
  return `/1/drill/${id}/${part}/`;
}

function formWith(archive: Buffer, title: string): Omit<Create, 'headers'> {
  const parts = [archivePart(archive, 'a.tar', 'application/x-tar'), entryPart(entryWith(title))];
  return { archive, title, body: formOf(parts) };
}

function entryWith(title: string): string {
  return entryXml(`<title>${title}</title><author><name>Ada</name></author>`);
}

function newTitle(): string {
  return `Drill ${randomUUID()}`;
}
