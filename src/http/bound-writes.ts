import { SwordError } from '../sword/sword-error.ts';
import type { ServiceMiddleware } from './service-context.ts';

const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Of all of them one client gets so many at most: however slow its bodies are, others are served. */
const SHARE = 3 / 4;

/**
 * Takes so many requests that change something at the same time, since each needs memory for what it brings. One
 * more is refused before anything of it is received: its client is to come again.
 */
export function boundWrites(most: number): ServiceMiddleware {
  const mostOfOne = Math.ceil(most * SHARE);
  const underWay = new Map<string, number>(); // of each client that has any
  let all = 0;
  return (ctx, next) => (WRITES.has(ctx.method) ? counted(ctx.state.login.client, next) : next());

  async function counted(client: string, next: () => Promise<unknown>): Promise<void> {
    if (all >= most) throw busy(`${most} uploads and changes`);
    if ((underWay.get(client) ?? 0) >= mostOfOne) throw busy(`${mostOfOne} uploads and changes of yours`);
    add(client, 1);
    try {
      await next();
    } finally {
      add(client, -1);
    }
  }

  function add(client: string, change: 1 | -1): void {
    all += change;
    const count = (underWay.get(client) ?? 0) + change;
    if (count > 0) underWay.set(client, count);
    else underWay.delete(client);
  }
}

function busy(what: string): SwordError {
  const text = `This service works on ${what} already, which is as many as it takes at the same time: send the request again in a few seconds.`;
  return new SwordError('ServiceUnavailable', text, { headers: { 'Retry-After': '3' } });
}
