import { SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';

/** Checks by name. Each rejects, with the reason, while the service cannot work. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** Timeout of one check: a store that does not answer is not ready. */
const CHECK_TIMEOUT_MS = 2000;

/** Milliseconds for which a result is cached: requests need no credentials, but the checks cost work. */
const CACHE_MS = { ready: 500, notReady: 50 } as const;

/**
 * Serves `/health/live` and `/health/ready` without credentials; a 503 names the failed checks. A ready node also
 * reports the number of parked events, over all nodes.
 */
export function health(checks: ReadinessChecks, parked: () => Promise<number>): ServiceMiddleware {
  const probe = cacheBriefly(async () => {
    const problems = await problemsOf(checks);
    if (problems.size > 0) return { problems };
    return { problems, parked: await withTimeout(parked(), CHECK_TIMEOUT_MS).catch(() => undefined) };
  });
  return (ctx, next) => {
    const path = ctx.path.replace(/\/$/, '');
    return path === '/health/live' || path === '/health/ready' ? answer(ctx, path) : next();
  };

  async function answer(ctx: ServiceContext, path: string): Promise<void> {
    ctx.set('Cache-Control', 'no-store');
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      const headers = { Allow: 'GET, HEAD' };
      throw new SwordError('MethodNotAllowed', `${ctx.method} is not possible here.`, { headers });
    }
    if (path === '/health/live') {
      ctx.body = { status: 'live' };
      return;
    }
    const found = await probe();
    assertReady(found.problems);
    ctx.body = { status: 'ready', parked: found.parked };
  }
}

/** Refuses requests until the views have caught up with the log; earlier responses would be stale. */
export function refuseUntil(ready: () => boolean): ServiceMiddleware {
  return (_ctx, next) => {
    if (ready()) return next();
    throw unavailable('The views of the service are behind the event log: try again in a moment.');
  };
}

/** Reasons by the name of the check. */
type Problems = ReadonlyMap<string, string>;

/** Resolves to the reasons why the service is not ready, by the name of the check. */
export async function problemsOf(checks: ReadinessChecks): Promise<Problems> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const problem = await withTimeout(check(), CHECK_TIMEOUT_MS, throwTimeout).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      return problem === undefined ? [] : [[name, problem] as const];
    }),
  );
  return new Map(found.flat());
}

type Readiness = {
  readonly problems: Problems;
  /** `undefined` when the event log did not answer in time. */
  readonly parked?: number | undefined;
};

/** Shares a running look-up among all callers and caches its result for a moment. */
function cacheBriefly(probe: () => Promise<Readiness>): () => Promise<Readiness> {
  let [found, until]: [Promise<Readiness> | undefined, number] = [undefined, 0];
  return () => {
    if (found && clock.monotonic() < until) return found;
    until = Infinity;
    found = probe().then((now) => {
      until = clock.monotonic() + (now.problems.size === 0 ? CACHE_MS.ready : CACHE_MS.notReady);
      return now;
    });
    return found;
  };
}

function assertReady(problems: Problems): void {
  const found = [...problems].map(([name, problem]) => `${name}: ${removeFolders(problem)}`);
  if (found.length > 0) throw unavailable(`The service is not ready: ${found.join(' ')}`);
}

/** Removes folders from a text: clients may learn what is wrong, not where files are stored. */
function removeFolders(text: string): string {
  return text.replace(/(?<=^|\s)\/\S*\//g, '');
}

function unavailable(summary: string): SwordError {
  return new SwordError('ServiceUnavailable', summary, { headers: { 'Retry-After': '2' } });
}

function throwTimeout(): never {
  throw new Error(`no answer within ${CHECK_TIMEOUT_MS} ms.`);
}
