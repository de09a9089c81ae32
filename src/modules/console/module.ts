import type { Config } from '../../config/config.ts';
import { isLoopback } from '../../config/loopback.ts';
import type { HttpModule, OperatorRoute } from '../../http/http-module.ts';
import type { Module } from '../module.ts';
import { isConsolePath, isUnreachable, mayReach } from './access/reach.ts';
import type { Console } from './server/console.ts';

/** The console: what operators, auditors and depositors see and do in a browser. Its code is loaded at its first use. */
export const webConsole: Module = {
  name: 'console',
  async serve(node): Promise<HttpModule | undefined> {
    const { config, log, parking, store, projector, logger } = node;
    if (config.console === 'off') return { name: 'console', operatorRoutes: { [CODES]: refusal(OFF) } };
    const [{ people }, { depositSearch }, { depositStatus }, { OneTimeCodes }, { SessionKey }] =
      await Promise.all([
        import('../../../projections/people.ts'),
        import('../../../projections/deposit-search.ts'),
        import('../../../projections/deposit-status.ts'),
        import('./access/one-time-codes.ts'),
        import('./access/session-key.ts'),
      ]);
    const views = {
      people: projector.add(people),
      depositSearch: projector.add(depositSearch),
      statuses: projector.add(depositStatus),
    };
    let [codes, opened]: [InstanceType<typeof OneTimeCodes>?, Promise<Console>?] = [];
    return {
      name: 'console',
      pages: (parts) => {
        const openKey = () => SessionKey.open(config.dataDir);
        const address = addressOf(config, parts.baseUrl);
        const issued = new OneTimeCodes(projector, views.people, address, openKey);
        codes = issued;
        const open = async (): Promise<Console> => {
          const { Console } = await import('./server/console.ts');
          return Console.open({
            ...parts,
            ...views,
            config,
            log,
            parking,
            store,
            projector,
            logger,
            codes: issued,
            isHttps: address.startsWith('https:'),
          });
        };
        return async (ctx, next) => {
          if (!isConsolePath(ctx.path) || !mayReach(ctx.req, config)) return next();
          opened ??= open().catch((error: unknown) => {
            opened = undefined; // the next request opens it again: a full disk or a wrong key may have been the reason
            throw error;
          });
          return (await opened).answer(ctx);
        };
      },
      operatorRoutes: {
        [CODES]: isUnreachable(config)
          ? refusal(BEHIND_PROXY)
          : async (request) => {
              if (!codes) throw new Error('The service is starting: try again in a moment.');
              return codes.issue(request);
            },
      },
      stop: () =>
        void opened?.then(
          (one) => one[Symbol.dispose](),
          () => undefined, // reported to the requests that wait for it
        ),
    };
  },
};

/** Issues a link to sign in. */
const CODES = 'POST /console/codes';
const OFF = 'The console is off: set DEPOSIT_CONSOLE=loopback or public.';
const BEHIND_PROXY =
  'The console is for browsers on this machine without a proxy, and DEPOSIT_TRUST_PROXY=true: set DEPOSIT_CONSOLE=public.';

/** Returns a command that fails: a link would lead to a page that answers no browser. */
function refusal(reason: string): OperatorRoute {
  return () => Promise.reject(new Error(reason));
}

/**
 * Returns the address that browsers use: the console is at the root of the host, also where the base URL has a path. A
 * console for this machine alone has the address on which the node listens.
 */
function addressOf({ console: access, host, port, tls, baseUrl: fixed }: Config, baseUrl: string): string {
  if (access === 'public' || fixed === null) return new URL(baseUrl).origin;
  const name = isLoopback(host) ? host : 'localhost';
  return `${tls ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
