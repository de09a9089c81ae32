import { SwordError } from '../sword/sword-error.ts';
import type { ServiceMiddleware } from './service-context.ts';

const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Takes so many requests that change something at the same time, since each needs memory for what it brings. One
 * more is refused before anything of it is received: its client is to come again.
 */
export function boundWrites(most: number): ServiceMiddleware {
  let underWay = 0;
  return (ctx, next) => (WRITES.has(ctx.method) ? counted(next) : next());

  async function counted(next: () => Promise<unknown>): Promise<void> {
    if (underWay >= most) throw busy(most);
    underWay += 1;
    try {
      await next();
    } finally {
      underWay -= 1;
    }
  }
}

function busy(most: number): SwordError {
  const text = `This service works on ${most} uploads and changes already, which is as many as it takes at the same time: send the request again in a few seconds.`;
  return new SwordError('ServiceUnavailable', text, { headers: { 'Retry-After': '3' } });
}
