import { createHash } from 'node:crypto';
import type { IdempotencyRecord, IdempotencyStore } from '../../deposits/idempotency-store.ts';
import type { OutageRetries } from '../../deposits/outage-retries.ts';
import { parseIdempotencyKey } from '../../sword/headers/idempotency-key.ts';
import { SwordError } from '../../sword/sword-error.ts';
import type { ReceivedContent } from '../requests/receive-content.ts';
import type { ServiceContext } from '../service-context.ts';

/** Content of a POST, independent of its encoding: identical for every repetition. */
export type RequestContent = {
  readonly inProgress: boolean | null;
  readonly slug: string | null;
  readonly content: ReceivedContent;
};

/** A POST and its Idempotency-Key. */
export class IdempotentRequest {
  readonly #requests: IdempotencyStore;
  readonly #client: string;
  readonly #key: string;
  readonly #target: string;

  /** Returns the request, or `undefined` if it has no key or is no POST. */
  static of(ctx: ServiceContext, requests: IdempotencyStore): IdempotentRequest | undefined {
    if (ctx.method !== 'POST') return undefined;
    const key = parseIdempotencyKey(ctx.req.headers['idempotency-key']);
    return key === null ? undefined : new IdempotentRequest(ctx, requests, key);
  }

  private constructor(ctx: ServiceContext, requests: IdempotencyStore, key: string) {
    this.#requests = requests;
    this.#client = ctx.state.login.client;
    this.#key = key;
    this.#target = targetOf(ctx.path);
  }

  /** Finds the earlier request with this key. */
  earlier(since?: number): Promise<IdempotencyRecord | undefined> {
    return this.#requests.find(this.#client, this.#key, since);
  }

  /**
   * Records the request, or returns its earlier record.
   * @throws {SwordError} 409: the key was used for another request.
   */
  async begin(
    asked: RequestContent,
    depositId: number,
    requestId: string,
    retries: OutageRetries,
  ): Promise<IdempotencyRecord> {
    const fingerprint = this.#fingerprintOf(asked);
    const begun = { depositId, requestId, fingerprint };
    const request = await this.#requests.begin(this.#client, this.#key, begun, retries);
    if (request.fingerprint === fingerprint) return request;
    const text = 'The Idempotency-Key was used before, for a request with other content.';
    throw new SwordError('Conflict', text, { verboseDescription: 'Take a new key for every new request.' });
  }

  #fingerprintOf({ inProgress, slug, content: { archive, entry } }: RequestContent): string {
    const asked = [
      this.#target,
      inProgress,
      slug,
      archive && [archive.sha256, archive.filename, archive.mediaType],
      entry && entry.sha256,
    ];
    return createHash('sha256').update(JSON.stringify(asked)).digest('hex');
  }
}

/** Normalizes a path, so that every resource has one name. */
function targetOf(path: string): string {
  return decodeURIComponent(path)
    .replace(/\/$/, '')
    .replace(/\/atom$/, '/metadata');
}
