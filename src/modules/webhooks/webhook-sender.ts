import type { ClientWebhook } from '../../../projections/client-webhooks.ts';
import {
  type StatusChange,
  type StatusChangeContext,
  statusChangeDocument,
} from '../../deposits/status-change.ts';
import { clock } from '../../tools/clock.ts';
import type { BackoffOptions } from '../../tools/concurrency/backoff.ts';
import type { Logger } from '../../tools/logger.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { signatureHeaders } from './signature.ts';
import type { Outcome, WebhookClient } from './webhook-client.ts';
import { WebhookKey, WebhookKeyProblem } from './webhook-key.ts';

export type WebhookSenderOptions = BackoffOptions & {
  readonly webhookClient: Pick<WebhookClient, 'post'>;
  readonly renderContext: StatusChangeContext;
  /** File with the key of the secrets. */
  readonly keyFile: string;
  /** Called whenever a secret cannot be opened. */
  readonly onKeyProblem: () => void;
  readonly logger: Logger;
};

/** Number of circuit breakers above which idle ones are dropped. */
const MAX_BREAKERS = 1000;

/** Counts of notifications since the start. */
export type WebhookSenderStatus = { readonly taken: number; readonly failed: number };

/** Signs and sends notifications, with a circuit breaker for each receiver. */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #breakers = new Map<string, { readonly revision: number; readonly breaker: CircuitBreaker }>();
  #key: WebhookKey | undefined;
  #taken = 0;
  #failed = 0;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
  }

  get status(): WebhookSenderStatus {
    return { taken: this.#taken, failed: this.#failed };
  }

  /** Returns the circuit breaker of a client's receiver; a changed webhook gets a new one. */
  breakerOf({ client, revision }: ClientWebhook): CircuitBreaker {
    const known = this.#breakers.get(client);
    if (known && known.revision >= revision) return known.breaker;
    if (this.#breakers.size >= MAX_BREAKERS) this.#dropIdle();
    const breaker = new CircuitBreaker(this.#options);
    this.#breakers.set(client, { revision, breaker });
    return breaker;
  }

  /** Allows one probe of the client's receiver, if it is paused. */
  allowProbe(client: string): void {
    this.#breakers.get(client)?.breaker.allowProbe();
  }

  /** Delivers with an acquired permit of the circuit breaker. @throws only when `signal` aborts */
  async deliver(
    webhook: ClientWebhook,
    breaker: CircuitBreaker,
    change: StatusChange,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const outcome = await breaker.deliver(() => this.#send(webhook, change, signal));
    if (outcome.taken) {
      this.#taken += 1;
      return outcome;
    }
    this.#failed += 1;
    const { depositId, client } = change.deposit;
    const { id: event } = change.event;
    this.#options.logger.info(
      { client, depositId, event, reason: outcome.reason },
      'webhook delivery failed',
    );
    return outcome;
  }

  #dropIdle(): void {
    for (const [client, { breaker }] of this.#breakers) if (breaker.isIdle) this.#breakers.delete(client);
  }

  async #send(webhook: ClientWebhook, change: StatusChange, signal: AbortSignal): Promise<Outcome> {
    const { webhookClient, renderContext } = this.#options;
    const body = JSON.stringify(statusChangeDocument(change, renderContext));
    const seconds = Math.floor(clock.now() / 1000);
    try {
      const secret = await this.#secretOf(webhook);
      const headers = signatureHeaders(secret, { id: change.event.id, body, seconds });
      return await webhookClient.post(webhook.url, body, headers, signal);
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
      this.#key = undefined; // the file may have another key next time
      throw error;
    }
  }
}
