import { Refusal } from '../../../domain/decider.ts';
import { unavailable } from '../../../http/middleware/health.ts';
import type { ServiceContext } from '../../../http/service-context.ts';
import { SessionKey } from '../access/session-key.ts';
import { Sessions } from '../access/sessions.ts';
import { VisibleDeposits } from '../listing/visible-deposits.ts';
import { permits } from '../protocol/permissions.ts';
import { Assets } from './assets.ts';
import type { ConsoleParts, NodeParts } from './console-parts.ts';
import { answerPage, refusalPage, seeOther, setHeaders } from './page.ts';
import { assertFromConsole, assertOfViewer, readBody } from './request-guard.ts';
import { ConsoleRefusal, notFoundHere, routeFinder } from './route.ts';
import { openRoutes } from './routes.ts';

export class Console implements Disposable {
  readonly #parts: ConsoleParts;
  readonly #find: ReturnType<typeof routeFinder>;

  static async open(node: NodeParts): Promise<Console> {
    const key = await SessionKey.open(node.config.dataDir);
    const sessions = new Sessions(key, node.people, node.credentials, node.isHttps);
    const { depositSearch, ...others } = node;
    return new Console({
      ...others,
      depositsOf: (viewer) => new VisibleDeposits(depositSearch, viewer),
      sessions,
      assets: await Assets.open(),
      resources: new DisposableStack(),
    });
  }

  private constructor(parts: ConsoleParts) {
    this.#parts = parts;
    this.#find = routeFinder(openRoutes(parts));
  }

  /** Answers a request for a path of the console. */
  async answer(ctx: ServiceContext): Promise<void> {
    setHeaders(ctx, this.#parts.assets);
    if (!this.#parts.isReady())
      throw unavailable('The views of the service are behind the event log: try again.');
    try {
      const answer = await this.#dispatch(ctx);
      if (answer !== undefined) ctx.body = answer;
    } catch (error) {
      const refusal = refusalOf(error);
      if (!refusal) throw error;
      await this.#refuse(ctx, refusal);
    }
  }

  /** Answers with a refusal: as JSON, or as a page where a browser opens the address. */
  async #refuse(ctx: ServiceContext, refusal: ConsoleRefusal): Promise<void> {
    const { status, code, message } = refusal;
    ctx.status = status;
    ctx.vary('Accept');
    if (ctx.accepts('json', 'html') !== 'html') ctx.body = { error: { code, message } };
    else if (status === 401) seeOther(ctx, `/console/sign-in?to=${encodeURIComponent(ctx.url)}`);
    else {
      const viewer = this.#parts.sessions.viewerOf(ctx, { isBackground: true });
      await answerPage(ctx, this.#parts.assets, refusalPage(refusal, viewer));
    }
  }

  async #dispatch(ctx: ServiceContext): Promise<unknown> {
    const { match, allow } = this.#find(ctx.method, ctx.path);
    if (!match) {
      if (allow.length === 0) throw notFoundHere();
      ctx.set('Allow', allow.join(', '));
      throw new ConsoleRefusal(405, 'METHOD_NOT_ALLOWED', `${ctx.method} is not possible here.`);
    }
    const { route, params } = match;
    Object.assign(ctx, { _matchedRoute: route.path }); // read by routeOf
    // What is public may be stored by caches that many share: no answer of it renews a session.
    const viewer = route.permission === 'public' ? undefined : this.#parts.sessions.viewerOf(ctx, route);
    const query = new URLSearchParams(ctx.querystring); // `ctx.URL` is empty for a Host like localhost:65536
    if (viewer) assertOfViewer(ctx, query, viewer);
    if (!permits(viewer?.role, route.permission))
      throw viewer
        ? new ConsoleRefusal(403, 'FORBIDDEN', 'Your role does not permit this.')
        : new ConsoleRefusal(401, 'NOT_SIGNED_IN', 'Sign in first.');
    if (route.method === 'POST') assertFromConsole(ctx, route);
    const { bodyTimeouts } = this.#parts.config;
    const body = route.method === 'POST' ? await readBody(ctx, route, bodyTimeouts) : undefined;
    const request = { ctx, params, query, body };
    if (route.permission === 'public') return route.answer(request);
    if (!viewer) throw notFoundHere(); // excluded by permits
    if (route.needsFreshSession && !viewer.isFresh) {
      const text =
        'This needs a sign-in within the last ten minutes: run deposit-service console again, and open its link.';
      throw new ConsoleRefusal(403, 'SIGN_IN_AGAIN', text);
    }
    return route.answer({ ...request, viewer });
  }

  [Symbol.dispose](): void {
    this.#parts.resources.dispose();
  }
}

function refusalOf(error: unknown): ConsoleRefusal | undefined {
  if (error instanceof ConsoleRefusal) return error;
  if (error instanceof Refusal) return new ConsoleRefusal(409, error.code, error.message);
  if (error instanceof URIError) return notFoundHere();
  return undefined;
}
