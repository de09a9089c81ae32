import { retryAfter, SwordError } from '../../sword/sword-error.ts';
import { FairSemaphore } from '../../tools/concurrency/fair-semaphore.ts';
import type { ServiceMiddleware } from '../service-context.ts';

const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Share of the concurrent writes left by others that one client may use, however slow its bodies are. */
const SHARE_PER_CLIENT = 3 / 4;

/** Limits concurrent writes, since bodies need memory. Others get 503 before their body is received. */
export function limitWrites(limit: number): ServiceMiddleware {
  const semaphore = new FairSemaphore({
    limit,
    ownerLimit: Math.ceil(limit * SHARE_PER_CLIENT),
    shrinking: true,
    refuse: (reached, held) => busy(`${held} uploads and changes${reached === 'owner' ? ' of yours' : ''}`),
  });
  return (ctx, next) => (WRITES.has(ctx.method) ? runLimited(ctx.state.login.client, next) : next());

  async function runLimited(client: string, next: () => Promise<unknown>): Promise<void> {
    using _permit = semaphore.acquireNow(client);
    await next();
  }
}

function busy(what: string): SwordError {
  const text = `This service already processes ${what}, the maximum at the same time: send the request again in a few seconds.`;
  return retryAfter('ServiceUnavailable', text, 3);
}
