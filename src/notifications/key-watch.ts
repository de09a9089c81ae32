import type { ClientWebhook } from '../../projections/client-webhooks.ts';
import type { Logger } from '../logger.ts';
import { clock } from '../tools/clock.ts';
import { WebhookKey, WebhookKeyProblem } from './webhook-key.ts';

export type KeyWatchOptions = {
  /** Holds the key of the secrets. */
  readonly keyFile: string;
  /** All that there are now. */
  readonly webhooks: () => Iterable<ClientWebhook>;
  readonly logger: Pick<Logger, 'error' | 'info'>;
};

/** While something is wrong, in milliseconds. */
const LOOK_EVERY = 5_000;

/**
 * Knows whether the secret of every webhook can be opened: looks at the start, when one could not be, and again until
 * it can. What is wrong is logged once, however many notifications fail for it, and once more when it is over.
 */
export class KeyWatch implements Disposable {
  readonly #options: KeyWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #problem: string | undefined;
  #isOver = false;

  constructor(options: KeyWatchOptions) {
    this.#options = options;
  }

  /** Why secrets cannot be opened, as it was found last. */
  get problem(): string | undefined {
    return this.#problem;
  }

  start(): void {
    if (this.#isOver) return;
    void this.look();
    const again = (): void => void (this.#problem !== undefined && this.look());
    this.#timer = clock.setInterval(again, LOOK_EVERY).unref();
  }

  /** Never rejects. Who comes meanwhile gets the look that is under way. */
  look(): Promise<void> {
    this.#looking ??= this.#find().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clock.clearInterval(this.#timer);
  }

  async #find(): Promise<void> {
    const [first, ...others] = await this.#problems();
    const problem = first && others.length > 0 ? `${first} ${others.length} more cannot be opened.` : first;
    if (problem === this.#problem || this.#isOver) return;
    this.#problem = problem;
    const { logger } = this.#options;
    if (problem === undefined) logger.info({}, 'secrets of webhooks can be opened again');
    else logger.error({ reason: problem }, 'secrets of webhooks cannot be opened');
  }

  async #problems(): Promise<readonly string[]> {
    const { keyFile, webhooks } = this.#options;
    try {
      const all = [...webhooks()];
      const key = all.length > 0 ? await WebhookKey.read(keyFile) : undefined;
      return all.flatMap((webhook) => (key && problemOf(key, webhook)) ?? []);
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
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
