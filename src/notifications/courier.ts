import type { ClientWebhook } from '../../projections/client-webhooks.ts';
import type { Pauses } from '../growing-pause.ts';
import type { Logger } from '../logger.ts';
import { type NewsEvent, type NewsLanguage, tell } from '../news/deposit-news.ts';
import { clock } from '../tools/clock.ts';
import type { Outcome, Postman } from './postman.ts';
import { ReceiverLine } from './receiver-line.ts';
import { signatureHeaders } from './signature.ts';
import { WebhookKey, WebhookKeyProblem } from './webhook-key.ts';

export type CourierOptions = Pauses & {
  readonly postman: Pick<Postman, 'post'>;
  readonly language: NewsLanguage;
  /** Holds the key of the secrets. */
  readonly keyFile: string;
  /** Called whenever a secret could not be opened. */
  readonly onKeyProblem: () => void;
  readonly logger: Logger;
};

/** More than these are looked through for those that nothing is remembered of. */
const MAX_LINES = 1000;

/** What a courier has done since the start. */
export type CourierStanding = {
  readonly taken: number;
  readonly failed: number;
};

/** Takes signed notifications to receivers, and knows the way to each. */
export class Courier {
  readonly #options: CourierOptions;
  readonly #lines = new Map<string, { readonly revision: number; readonly line: ReceiverLine }>();
  #key: WebhookKey | undefined;
  #taken = 0;
  #failed = 0;

  constructor(options: CourierOptions) {
    this.#options = options;
  }

  get standing(): CourierStanding {
    return { taken: this.#taken, failed: this.#failed };
  }

  /** The line to a client's receiver; a webhook that was set anew begins with an open one. */
  lineTo({ client, revision }: ClientWebhook): ReceiverLine {
    const known = this.#lines.get(client);
    if (known && known.revision >= revision) return known.line;
    if (this.#lines.size >= MAX_LINES) this.#forgetIdle();
    const line = new ReceiverLine(this.#options);
    this.#lines.set(client, { revision, line });
    return line;
  }

  /** On a place of its line that was taken. @throws only when `signal` aborts */
  async deliver(
    webhook: ClientWebhook,
    line: ReceiverLine,
    news: NewsEvent,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const outcome = await line.deliver(() => this.#send(webhook, news, signal));
    if (outcome.taken) {
      this.#taken += 1;
      return outcome;
    }
    this.#failed += 1;
    const { depositId, client } = news.deposit;
    const { id: event } = news.event;
    this.#options.logger.info({ client, depositId, event, reason: outcome.reason }, 'notification not taken');
    return outcome;
  }

  #forgetIdle(): void {
    for (const [client, { line }] of this.#lines) if (line.isIdle) this.#lines.delete(client);
  }

  async #send(webhook: ClientWebhook, news: NewsEvent, signal: AbortSignal): Promise<Outcome> {
    const { postman, language } = this.#options;
    const body = JSON.stringify(tell(news, language));
    const seconds = Math.floor(clock.now() / 1000);
    try {
      const secret = await this.#secretOf(webhook);
      const headers = signatureHeaders(secret, { id: news.event.id, body, seconds });
      return await postman.post(webhook.url, body, headers, signal);
    } catch (error) {
      if (!(error instanceof WebhookKeyProblem)) throw error;
      this.#options.onKeyProblem();
      return { taken: false, reason: error.message, isUnreachable: true, retryAfter: 0 };
    }
  }

  async #secretOf({ client, secret }: ClientWebhook): Promise<string> {
    this.#key ??= await WebhookKey.read(this.#options.keyFile);
    try {
      return this.#key.open(secret, client);
    } catch (error) {
      this.#key = undefined; // the file may hold another one next time
      throw error;
    }
  }
}
