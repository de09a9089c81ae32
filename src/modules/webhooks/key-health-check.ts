import type { ClientWebhook } from '../../../projections/client-webhooks.ts';
import { clock } from '../../tools/clock.ts';
import { messageOf } from '../../tools/coded-error.ts';
import type { Logger } from '../../tools/logger.ts';
import { WebhookKey, WebhookKeyProblem } from './webhook-key.ts';

export type KeyHealthCheckOptions = {
  /** File with the key of the secrets. */
  readonly keyFile: string;
  /** Returns all current webhooks. */
  readonly webhooks: () => Iterable<ClientWebhook>;
  readonly logger: Pick<Logger, 'error' | 'info'>;
};

/** Milliseconds between checks while there is a problem. */
const CHECK_INTERVAL_MS = 5_000;

/**
 * Checks that the secret of every webhook can be opened: at the start, after a failure, and then until it succeeds.
 * Logs a problem once, and once more when it is over, independent of the number of failed notifications.
 */
export class KeyHealthCheck implements Disposable {
  readonly #options: KeyHealthCheckOptions;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;
  #problem: string | undefined;
  #isOver = false;

  constructor(options: KeyHealthCheckOptions) {
    this.#options = options;
  }

  /** Reason why secrets cannot be opened, from the last check. */
  get problem(): string | undefined {
    return this.#problem;
  }

  start(): void {
    if (this.#isOver) return;
    void this.check();
    const again = (): void => void (this.#problem !== undefined && this.check());
    this.#timer = clock.setInterval(again, CHECK_INTERVAL_MS).unref();
  }

  /** Checks all secrets; concurrent callers share one check. Never rejects. */
  check(): Promise<void> {
    this.#checking ??= this.#update().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clock.clearInterval(this.#timer);
  }

  async #update(): Promise<void> {
    const [first, ...others] = await this.#problems();
    const problem =
      first && others.length > 0 ? `${first} ${others.length} more cannot be decrypted.` : first;
    if (problem === this.#problem || this.#isOver) return;
    this.#problem = problem;
    const { logger } = this.#options;
    if (problem === undefined) logger.info({}, 'webhook secrets can be decrypted again');
    else logger.error({ reason: problem }, 'webhook secrets cannot be decrypted');
  }

  async #problems(): Promise<readonly string[]> {
    const { keyFile, webhooks } = this.#options;
    try {
      const all = [...webhooks()];
      const key = all.length > 0 ? await WebhookKey.read(keyFile) : undefined;
      return all.flatMap((webhook) => (key && problemOf(key, webhook)) ?? []);
    } catch (error) {
      return [messageOf(error)];
    }
  }
}

function problemOf(key: WebhookKey, { secret, client }: ClientWebhook): string | undefined {
  try {
    key.open(secret, client);
    return undefined;
  } catch (error) {
    if (error instanceof WebhookKeyProblem) return error.message;
    throw error;
  }
}
