import { createHash } from 'node:crypto';
import type { KeyedRequest, KeyedRequests } from '../../keyed-requests.ts';
import type { OutageRetries } from '../../outage-retries.ts';
import { parseIdempotencyKey } from '../../sword/headers/idempotency-key.ts';
import { SwordError } from '../../sword/sword-error.ts';
import type { ServiceContext } from '../service-context.ts';
import type { ReceivedContent } from './receive-content.ts';

/** What a POST asks for, however its bytes are wrapped: the same for every repetition of it. */
export type Asked = {
  readonly inProgress: boolean | null;
  readonly slug: string | null;
  readonly content: ReceivedContent;
};

/** A POST and its Idempotency-Key. */
export class IdempotentRequest {
  readonly #requests: KeyedRequests;
  readonly #client: string;
  readonly #key: string;
  readonly #target: string;

  /** `undefined`: it has no key, or is no POST. */
  static of(ctx: ServiceContext, requests: KeyedRequests): IdempotentRequest | undefined {
    if (ctx.method !== 'POST') return undefined;
    const key = parseIdempotencyKey(ctx.req.headers['idempotency-key']);
    return key === null ? undefined : new IdempotentRequest(ctx, requests, key);
  }

  private constructor(ctx: ServiceContext, requests: KeyedRequests, key: string) {
    this.#requests = requests;
    this.#client = ctx.state.login.client;
    this.#key = key;
    this.#target = targetOf(ctx.path);
  }

  /** What was asked for under this key before. */
  earlier(since?: number): Promise<KeyedRequest | undefined> {
    return this.#requests.find(this.#client, this.#key, since);
  }

  /** @throws {SwordError} 409: the key stands for something else. */
  async begin(
    asked: Asked,
    depositId: number,
    requestId: string,
    retries: OutageRetries,
  ): Promise<KeyedRequest> {
    const fingerprint = this.#fingerprintOf(asked);
    const begun = { depositId, requestId, fingerprint };
    const request = await this.#requests.begin(this.#client, this.#key, begun, retries);
    if (request.fingerprint === fingerprint) return request;
    const text = 'The Idempotency-Key was used before, for a request with other content.';
    throw new SwordError('Conflict', text, { verboseDescription: 'Take a new key for every new request.' });
  }

  #fingerprintOf({ inProgress, slug, content: { archive, entry } }: Asked): string {
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

/** One resource has one name here, however its path is written. */
function targetOf(path: string): string {
  return decodeURIComponent(path)
    .replace(/\/$/, '')
    .replace(/\/atom$/, '/metadata');
}
