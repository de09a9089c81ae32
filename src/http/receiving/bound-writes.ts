import { Places } from '../../places.ts';
import { SwordError } from '../../sword/sword-error.ts';
import type { ServiceMiddleware } from '../service-context.ts';

const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Of all of them one client gets so many at most: however slow its bodies are, others are served. */
const SHARE = 3 / 4;

/**
 * Takes so many requests that change something at the same time, since each needs memory for what it brings. One
 * more is refused before anything of it is received: its client is to come again.
 */
export function boundWrites(most: number): ServiceMiddleware {
  const mostOfOne = Math.ceil(most * SHARE);
  const places = new Places(most, mostOfOne);
  return (ctx, next) => (WRITES.has(ctx.method) ? counted(ctx.state.login.client, next) : next());

  async function counted(client: string, next: () => Promise<unknown>): Promise<void> {
    const lack = places.lackFor(client);
    if (lack === 'share taken') throw busy(`${mostOfOne} uploads and changes of yours`);
    if (lack === 'all taken') throw busy(`${most} uploads and changes`);
    using _place = places.take(client);
    await next();
  }
}

function busy(what: string): SwordError {
  const text = `This service works on ${what} already, which is as many as it takes at the same time: send the request again in a few seconds.`;
  return new SwordError('ServiceUnavailable', text, { headers: { 'Retry-After': '3' } });
}
