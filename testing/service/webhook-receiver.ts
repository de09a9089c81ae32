import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { LocalServer } from '../http/local-server.ts';

export type Received = {
  readonly id: string;
  readonly deposit: number;
  /** `undefined` if the deposit was deleted. */
  readonly status: string | undefined;
  readonly revision: number;
  /** Whether the signature is that of the secret, and recent. */
  readonly isSigned: boolean;
  readonly headers: IncomingMessage['headers'];
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, unknown>;
  };
};

/** Decides the answer to a notification: a status, or none ever. */
export type Manners = (received: Received) => number | 'silent';

/** A receiver of webhooks like that of a client; it can stop and return at the same address. */
export class WebhookReceiver implements AsyncDisposable {
  readonly secret = `whsec_${Buffer.from('a secret of twenty-four bytes').toString('base64')}`;
  /** Everything that came, including notifications that were refused. */
  readonly received: Received[] = [];
  /** Notifications that were answered 204. */
  readonly taken: Received[] = [];
  manners: Manners = () => 204;
  /** Milliseconds until it answers. */
  delay = 0;
  /** Sent with every refusal. */
  retryAfter: string | undefined;
  readonly #server: LocalServer;

  /** By default on a free port. */
  static async start({ host = '127.0.0.1', port = 0 } = {}): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(host);
    await receiver.#server.listen(port);
    return receiver;
  }

  private constructor(host: string) {
    this.#server = new LocalServer((req, res) => void this.#take(req, res), host);
  }

  get url(): string {
    return `${this.#server.url}/hook`;
  }

  up(): Promise<void> {
    return this.#server.listen();
  }

  down(): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }

  /** Status words of a deposit in the order in which they first came; `gone` for the last of a deleted one. */
  statusesOf(deposit: number, among: readonly Received[] = this.taken): readonly string[] {
    const [seen, statuses] = [new Set<string>(), [] as string[]];
    for (const received of among) {
      if (received.deposit !== deposit || seen.has(received.id)) continue;
      seen.add(received.id);
      statuses.push(received.status ?? 'gone');
    }
    return statuses;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.down();
  }

  async #take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await text(req);
    const received = this.#read(req, body);
    this.received.push(received);
    const answer = this.manners(received);
    if (answer === 'silent') return;
    if (this.delay > 0) await pause(this.delay);
    if (answer === 204) this.taken.push(received);
    if (answer === 302) res.setHeader('Location', 'http://127.0.0.1:1/elsewhere');
    if (answer >= 400 && this.retryAfter !== undefined) res.setHeader('Retry-After', this.retryAfter);
    res.writeHead(answer).end();
  }

  #read({ headers }: IncomingMessage, text: string): Received {
    const body = JSON.parse(text) as Received['body'];
    const [id, timestamp] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])];
    const key = Buffer.from(this.secret.slice('whsec_'.length), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64');
    const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) < 60;
    return {
      id,
      deposit: Number(body.data['deposit_id']),
      status: body.data['deposit_status'] as string | undefined,
      revision: Number(body.data['revision']),
      isSigned: isRecent && headers['webhook-signature'] === `v1,${expected}`,
      headers,
      body,
    };
  }
}
