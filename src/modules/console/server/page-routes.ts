import { packageInfo } from '../../../config/package-info.ts';
import { clock } from '../../../tools/clock.ts';
import type { Boot } from '../protocol/boot.ts';
import { html } from '../protocol/html.ts';
import { permissionsOf } from '../protocol/permissions.ts';
import { SCREENS } from '../protocol/screens.ts';
import type { ConsoleParts } from './console-parts.ts';
import { answerPage, signOutForm } from './page.ts';
import { notFoundHere, type Route, type RouteRequest } from './route.ts';

/** The script of all pages. The one of a deposit is loaded by it when it is opened, and fetched here at once. */
const MAIN = 'main.ts';

/** Returns the routes of the pages, which the browser fills, and of what they are made of. */
export function pageRoutes({ assets, baseUrl }: ConsoleParts): readonly Route[] {
  const pages = SCREENS.map(({ path, title, permission }): Route => {
    return {
      method: 'GET',
      path,
      permission,
      answer: ({ ctx, params, viewer }) => {
        const { name, role, scope, kind } = viewer;
        const boot: Boot = {
          viewer: { kind, name, role, client: scope?.client ?? null, permissions: permissionsOf(role) },
          service: { ...packageInfo(), url: baseUrl, time: clock.date().toISOString() },
        };
        const content = html`<div id="app" data-boot=${JSON.stringify(boot)}>
          <header><span class="brand">Deposits</span></header>
          <main>
            <h1>${[title, ...Object.values(params)].join(' ')}</h1>
            <p class="loading" role="status">Loading …</p>
            <noscript>
              <p>The console needs JavaScript: switch it on, and load this page again.</p>
              ${scope && html`<p>The <a href=${`${baseUrl}/1/servicedocument/`}>pages of your collections and deposits</a> work without it.</p>`}
              ${signOutForm(viewer)}
            </noscript>
          </main>
        </div>`;
        const scripts = path === '/console/deposits/:id' ? [MAIN, 'deposit/deposit-screen.ts'] : [MAIN];
        return answerPage(ctx, assets, { title: `${title} · Deposits`, scripts, content });
      },
    };
  });
  return [
    {
      method: 'GET',
      path: '/console',
      permission: 'public',
      answer: ({ ctx }) => {
        ctx.redirect('/console/');
        ctx.status = 308;
      },
    },
    ...pages,
    { method: 'GET', path: '/console/assets/*path', permission: 'public', answer: asset },
  ];

  async function asset({ ctx }: RouteRequest): Promise<void> {
    const found = await assets.at(ctx.path);
    if (!found) throw notFoundHere();
    const isCompressed = ctx.acceptsEncodings('br', 'identity') === 'br';
    ctx.vary('Accept-Encoding');
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    if (isCompressed) ctx.set('Content-Encoding', 'br');
    ctx.body = isCompressed ? found.compressed : found.body;
    ctx.set('Content-Type', found.type);
  }
}
