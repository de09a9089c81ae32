import { inTime } from '../in-time.ts';
import { SwordError } from '../sword/sword-error.ts';
import { clock } from '../tools/clock.ts';
import type { ServiceContext, ServiceMiddleware } from './service-context.ts';

/** Each rejects, with the reason, while the service cannot do its work. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** Of one check, in milliseconds: a store that does not answer is not ready. */
const PATIENCE = 2000;

/** For so many milliseconds what was found is told again: asking is free to everyone, looking is not. */
const KNOWN_FOR = { ready: 500, notReady: 50 } as const;

/**
 * `/health/live` and `/health/ready`, without credentials; a 503 says what is missing. A node that is ready says how many
 * events are parked, on whatever node.
 */
export function health(checks: ReadinessChecks, parked: () => Promise<number>): ServiceMiddleware {
  const look = remembering(async () => {
    const problems = await problemsOf(checks);
    if (problems.size > 0) return { problems };
    return { problems, parked: await inTime(parked(), PATIENCE).catch(() => undefined) };
  });
  return (ctx, next) => {
    const path = ctx.path.replace(/\/$/, '');
    return path === '/health/live' || path === '/health/ready' ? tell(ctx, path) : next();
  };

  async function tell(ctx: ServiceContext, path: string): Promise<void> {
    ctx.set('Cache-Control', 'no-store');
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      const headers = { Allow: 'GET, HEAD' };
      throw new SwordError('MethodNotAllowed', `${ctx.method} is not possible here.`, { headers });
    }
    if (path === '/health/live') {
      ctx.body = { status: 'live' };
      return;
    }
    const found = await look();
    assertReady(found.problems);
    ctx.body = { status: 'ready', parked: found.parked };
  }
}

/** While the views are behind the log, answers would be of the past. */
export function refuseUntil(ready: () => boolean): ServiceMiddleware {
  return (_ctx, next) => {
    if (ready()) return next();
    throw unavailable('The views of the service are behind the event log: try again in a moment.');
  };
}

/** Reasons by the name of the check. */
type Problems = ReadonlyMap<string, string>;

/** What keeps the service from its work, by the name of the check, with the reason. */
export async function problemsOf(checks: ReadinessChecks): Promise<Problems> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const problem = await inTime(check(), PATIENCE, noAnswer).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      return problem === undefined ? [] : [[name, problem] as const];
    }),
  );
  return new Map(found.flat());
}

type Found = {
  readonly problems: Problems;
  /** `undefined` when the event log did not answer in time. */
  readonly parked?: number | undefined;
};

/** What is under way, or was found a moment ago, is for all who ask. */
function remembering(look: () => Promise<Found>): () => Promise<Found> {
  let [found, until]: [Promise<Found> | undefined, number] = [undefined, 0];
  return () => {
    if (found && clock.monotonic() < until) return found;
    until = Infinity;
    found = look().then((now) => {
      until = clock.monotonic() + (now.problems.size === 0 ? KNOWN_FOR.ready : KNOWN_FOR.notReady);
      return now;
    });
    return found;
  };
}

function assertReady(problems: Problems): void {
  const found = [...problems].map(([name, problem]) => `${name}: ${withoutFolders(problem)}`);
  if (found.length > 0) throw unavailable(`The service is not ready: ${found.join(' ')}`);
}

/** Whoever asks is told what is wrong, not where things lie. */
function withoutFolders(text: string): string {
  return text.replace(/(?<=^|\s)\/\S*\//g, '');
}

function unavailable(summary: string): SwordError {
  return new SwordError('ServiceUnavailable', summary, { headers: { 'Retry-After': '2' } });
}

function noAnswer(): never {
  throw new Error(`no answer within ${PATIENCE} ms.`);
}
