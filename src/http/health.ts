import { SwordError } from '../sword/sword-error.ts';
import type { ServiceMiddleware } from './service-context.ts';

/** Each rejects, with the reason, while the service cannot do its work. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** Of one check, in milliseconds: a store that does not answer is not ready. */
const PATIENCE = 2000;

/** `/health/live` and `/health/ready`, without credentials; a 503 says what is missing. */
export function health(checks: ReadinessChecks): ServiceMiddleware {
  return async (ctx, next) => {
    const path = ctx.path.replace(/\/$/, '');
    if (path !== '/health/live' && path !== '/health/ready') return next();
    ctx.set('Cache-Control', 'no-store');
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      const headers = { Allow: 'GET, HEAD' };
      throw new SwordError('MethodNotAllowed', `${ctx.method} is not possible here.`, { headers });
    }
    if (path === '/health/ready') await assertReady(checks);
    ctx.body = { status: path === '/health/live' ? 'live' : 'ready' };
  };
}

/** Until the views have caught up with the log, answers would be of the past. */
export function refuseUntil(ready: () => boolean): ServiceMiddleware {
  return async (_ctx, next) => {
    if (ready()) return next();
    throw unavailable('The service is starting: its views catch up with the event log.');
  };
}

/** What keeps the service from its work, by the name of the check, with the reason. */
export async function problemsOf(checks: ReadinessChecks): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const problem = await inTime(check()).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      return problem === undefined ? [] : [[name, problem] as const];
    }),
  );
  return new Map(found.flat());
}

async function assertReady(checks: ReadinessChecks): Promise<void> {
  const found = [...(await problemsOf(checks))].map(([name, problem]) => `${name}: ${problem}`);
  if (found.length > 0) throw unavailable(`The service is not ready: ${found.join(' ')}`);
}

function unavailable(summary: string): SwordError {
  return new SwordError('ServiceUnavailable', summary, { headers: { 'Retry-After': '2' } });
}

async function inTime(check: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE} ms.`)), PATIENCE);
  try {
    await Promise.race([check, promise]);
  } finally {
    clearTimeout(timer);
  }
}
