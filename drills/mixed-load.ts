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
} from '../test/support/deposit-bodies.ts';
import type { TestClient } from '../test/support/running-service.ts';
import { newTar } from './answered-deposits.ts';
import { Ledger, type WatchedDeposit } from './watched-deposit.ts';

type Headers = Readonly<Record<string, string>>;
type Create = {
  readonly body: string | Buffer;
  readonly headers: Headers;
  readonly archive?: Buffer;
  readonly title?: string;
};
type Told = { readonly status: number; readonly body: string };

const binary = archiveHeaders('a.tar', 'application/x-tar');

/**
 * Writers that deposit again and again, each in one of several ways: forms and binaries, complete at once or step by
 * step with PUT and empty POST, some with an Idempotency-Key. They go on over the service's ends and know afterwards
 * what it has promised.
 */
export class MixedLoad {
  readonly ledger = new Ledger();
  readonly #client: TestClient;
  readonly #headers: Headers;
  readonly #writers: Promise<void>[];
  #isOver = false;

  /** `headers` go with every request. */
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

  /** Resolves when no request is under way any more. A deposit that a writer is in the middle of stays as it is. */
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

  /** The archive first, replaced some times, then metadata, replaced, then the end. */
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
    const told = await this.#again(() => this.#send('POST', iri(deposit, 'media'), archive, headers));
    if (told && this.#mustBe(201, told)) deposit.archive.tell(hash('sha256', archive));
    await this.#finish(deposit);
  }

  /** @returns the deposit when it was acknowledged. */
  async #create(
    { body, headers, archive, title }: Create,
    isKeyed = false,
  ): Promise<WatchedDeposit | undefined> {
    this.ledger.creates.add(hash('sha256', archive ?? body));
    const post = (): Promise<Told | undefined> => this.#send('POST', '/1/drill/', body, headers);
    const told = isKeyed ? await this.#again(post) : await post();
    if (!told && !isKeyed) this.ledger.unansweredCreates.add(hash('sha256', archive ?? body));
    if (told?.status === 503 || !told || !this.#mustBe(201, told)) return undefined;
    const deposit = this.ledger.created(/<deposit_id>(\d+)</.exec(told.body)?.[1] ?? '');
    if (archive) deposit.archive.tell(hash('sha256', archive));
    if (title !== undefined) deposit.title.tell(title);
    if (headers['In-Progress'] === 'false') deposit.final = 'told';
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
    const told = await this.#again(() =>
      this.#send('PUT', iri(deposit, part), body, { ...headers, ...partial }),
    );
    if (told && this.#mustBe(204, told)) written.tell(value);
  }

  async #finish(deposit: WatchedDeposit): Promise<void> {
    if (this.#isOver) return;
    deposit.final = 'sent';
    const told = await this.#again(() => this.#send('POST', iri(deposit, 'metadata'), null, final));
    if (told && this.#mustBe(200, told)) deposit.final = 'told';
  }

  /** Until it is answered, by a service that is ready, or the load is over. */
  async #again(send: () => Promise<Told | undefined>): Promise<Told | undefined> {
    while (!this.#isOver) {
      const told = await send();
      if (told && told.status !== 503) return told;
    }
    return undefined;
  }

  /** `undefined` when there was no answer. */
  async #send(
    method: string,
    target: string,
    body: string | Buffer | null,
    headers: Headers,
  ): Promise<Told | undefined> {
    const sent = typeof body === 'object' && body ? new Uint8Array(body) : body;
    try {
      const all = { ...this.#headers, ...headers };
      const answer = await this.#client.send(method, target, { body: sent, headers: all });
      const told = { status: answer.status, body: await answer.text() };
      if (told.status === 503) await pause(20);
      return told;
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } };
      const code = cause?.code ?? 'UNKNOWN';
      this.ledger.errors.set(code, (this.ledger.errors.get(code) ?? 0) + 1);
      if (code !== 'ECONNREFUSED') this.ledger.unanswered += 1;
      await pause(20);
      return undefined;
    }
  }

  #mustBe(status: number, told: Told): boolean {
    if (told.status === status) {
      this.ledger.acknowledged += 1;
      return true;
    }
    this.ledger.faults.push(`${told.status} instead of ${status}: ${told.body.slice(0, 500)}`);
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
