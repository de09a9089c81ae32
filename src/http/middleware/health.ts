import { onlyJson } from '../../sword/documents/document.ts';
import { htmlPieces } from '../../sword/documents/html-page.ts';
import { FACTS_OFFERS, negotiate } from '../../sword/headers/accept.ts';
import { retryAfter, SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import { messageOf } from '../../tools/coded-error.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import { answerDocument } from '../responses/representation.ts';
import { OPEN_ROUTES } from '../route-table.ts';
import type { ServiceContext } from '../service-context.ts';

/** Checks by name. Each rejects, with the reason, while the service cannot work. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** Timeout of one check: a store that does not answer is not ready. */
const CHECK_TIMEOUT_MS = 2000;

/** Milliseconds for which a result is cached: requests need no credentials, but the checks cost work. */
const CACHE_MS = { ready: 500, notReady: 50 } as const;

/**
 * Returns the resources that answer whether the service lives, and whether it is ready: a 503 names the failed checks. A
 * ready node also reports the number of parked events, over all nodes.
 */
export function health(checks: ReadinessChecks, parked: () => Promise<number>) {
  const probe = cacheBriefly(async () => {
    const problems = await problemsOf(checks);
    if (problems.size > 0) return { problems };
    return { problems, parked: await withTimeout(parked(), CHECK_TIMEOUT_MS).catch(() => undefined) };
  });
  const live = (ctx: ServiceContext): void => {
    beginAnswer(ctx);
    answer(ctx, { status: 'live' });
  };
  const ready = async (ctx: ServiceContext): Promise<void> => {
    beginAnswer(ctx);
    const found = await probe();
    assertReady(found.problems);
    answer(ctx, { status: 'ready', parked: found.parked });
  };
  return new Map([
    [OPEN_ROUTES.live, live],
    [`${OPEN_ROUTES.live}/`, live],
    [OPEN_ROUTES.ready, ready],
    [`${OPEN_ROUTES.ready}/`, ready],
  ]);
}

function beginAnswer(ctx: ServiceContext): void {
  ctx.set('Cache-Control', 'no-store');
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  const headers = { Allow: 'GET, HEAD' };
  throw new SwordError('MethodNotAllowed', `${ctx.method} is not possible here.`, { headers });
}

function answer(ctx: ServiceContext, facts: Readonly<Record<string, unknown>>): void {
  const { contentType, format } = negotiate(FACTS_OFFERS, ctx.req.headers.accept);
  ctx.vary('Accept');
  if (format === 'html') {
    const page = htmlPieces({ element: 'health', facts: onlyJson({ title: 'Health', ...facts }) });
    answerDocument(ctx, contentType, [...page].join(''));
  } else ctx.body = facts;
}

/** Reasons by the name of the check. */
type Problems = ReadonlyMap<string, string>;

/** Resolves to the reasons why the service is not ready, by the name of the check. */
export async function problemsOf(checks: ReadinessChecks): Promise<Problems> {
  const found = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const problem = await withTimeout(check(), CHECK_TIMEOUT_MS, throwTimeout).then(
        () => undefined,
        messageOf,
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

/** Path of a folder, which may contain spaces: up to the last slash before another path or the end of a clause. */
const FOLDER = /(?<=^|\s)\/(?:(?:(?!\s\/|[.:,;]\s)[^/])*\/)+/g;

/** Removes folders from a text: clients may learn what is wrong, not where files are stored. */
function removeFolders(text: string): string {
  return text.replace(FOLDER, '');
}

export function unavailable(summary: string): SwordError {
  return retryAfter('ServiceUnavailable', summary, 2);
}

function throwTimeout(): never {
  throw new Error(`no answer within ${CHECK_TIMEOUT_MS} ms.`);
}
