import { hash } from 'node:crypto';
import type { ComponentChild } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { ServiceContext } from '../../../http/service-context.ts';
import type { Viewer } from '../access/sessions.ts';
import { html } from '../protocol/html.ts';
import { permits } from '../protocol/permissions.ts';
import type { Assets } from './assets.ts';
import type { ConsoleRefusal } from './route.ts';

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%230b5c8a'/%3E%3Cpath d='M4 4h8v2H4zm0 3h8v2H4zm0 3h5v2H4z' fill='%23fff'/%3E%3C/svg%3E";

const STYLES = ['style.css', 'deposit/deposit.css'];

/** Headers of every answer of the console. */
export function setHeaders(ctx: ServiceContext, { importMap, release }: Assets): void {
  const map = hash('sha256', importMap, 'base64');
  ctx.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src 'self' 'sha256-${map}'`,
      "style-src 'self'",
      "connect-src 'self'",
      "worker-src 'self'",
      "img-src 'self' data:",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types deposit-console',
    ].join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'X-Console-Release': release,
    'Referrer-Policy': 'same-origin', // with no-referrer, browsers send forms with `Origin: null`
  });
}

type Page = {
  readonly title: string;
  readonly scripts?: readonly string[];
  readonly content: ComponentChild;
};

/** Answers with a page. It starts with the first of `scripts`, modules of the browser; the others are only fetched. */
export async function answerPage(
  ctx: ServiceContext,
  assets: Assets,
  { title, scripts = [], content }: Page,
): Promise<void> {
  const body = html`<body>
    ${content}
  </body>`;
  const head = html`
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>${title}</title>
      <link rel="icon" href=${ICON} />
      ${STYLES.map((name) => html`<link rel="stylesheet" href=${assets.urlOf(`src/modules/console/browser/${name}`)} />`)}
    </head>
  `;
  const tags = scripts.length === 0 ? '' : await scriptTags(assets, scripts);
  const parts = [renderToString(head).replace('</head>', () => `${tags}</head>`), renderToString(body)];
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = `<!DOCTYPE html><html lang="en">${parts.join('')}</html>`;
}

/**
 * Returns the script, the import map that it needs, and the scripts that it imports. The map must be the text whose hash
 * is in the policy, so no renderer may touch it.
 */
async function scriptTags(assets: Assets, scripts: readonly string[]): Promise<string> {
  const names = scripts.map((script) => `src/modules/console/browser/${script}`);
  const [first, ...others] = names.map((name) => assets.urlOf(name));
  const fetched = new Set([...others, ...(await assets.importedBy(...names))]);
  return [
    `<script type="importmap">${assets.importMap}</script>`,
    ...[...fetched].map((url) => `<link rel="modulepreload" href="${url}">`),
    `<script type="module" src="${first}"></script>`,
  ].join('');
}

/** Returns the contents of a page outside of the console: to sign in, or after a refusal. */
export function outsidePage(content: ComponentChild): ComponentChild {
  return html`<main class="sign-in"><h1>Deposits</h1>${content}</main>`;
}

/** Returns the page that says why an address is refused, and leads to the console or out of it. */
export function refusalPage({ status, message }: ConsoleRefusal, viewer: Viewer | undefined): Page {
  const title = status === 404 ? 'Not found' : 'Not possible';
  const mayEnter = !viewer || permits(viewer.role, 'deposits:read');
  return {
    title: `${title} · Deposits`,
    content: outsidePage(html`
      <h2>${title}</h2>
      <p class="problem">${message}</p>
      ${mayEnter && html`<p><a href="/console/">To the overview</a></p>`}
      ${viewer && signOutForm(viewer)}
    `),
  };
}

/** Returns the form by which a viewer leaves a page that works without scripts. */
export function signOutForm({ name, role }: Viewer): ComponentChild {
  return html`<form method="post" action="/console/api/sign-out">
    <p>You are signed in as ${name}, ${role}.</p>
    <button>Sign out</button>
  </form>`;
}

/** Leads the browser to another page of the console. */
export function seeOther(ctx: ServiceContext, to: string): void {
  ctx.redirect(to);
  ctx.status = 303;
}
