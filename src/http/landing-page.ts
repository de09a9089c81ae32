import { SwordError } from '../sword/sword-error.ts';
import type { ServiceMiddleware } from './service-context.ts';

/** What SWORD clients look for on a page: as the profile has it, and as it was before. */
const RELATIONS = ['http://purl.org/net/sword/discovery/service-document', 'sword'];

const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A page at `/`, without credentials, from which clients and people find the service document. */
export function landingPage(serviceDocument: string): ServiceMiddleware {
  const html = pageOf(escaped(serviceDocument));
  return async (ctx, next) => {
    if (ctx.path !== '/') return next();
    if (ctx.method === 'OPTIONS') {
      ctx.set('Allow', 'GET, HEAD, OPTIONS');
      ctx.status = 204;
      return;
    }
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      const headers = { Allow: 'GET, HEAD, OPTIONS' };
      throw new SwordError('MethodNotAllowed', `${ctx.method} is not possible here.`, { headers });
    }
    ctx.set('Content-Security-Policy', POLICY);
    ctx.set('Cache-Control', 'max-age=3600');
    ctx.set('Content-Type', 'text/html; charset=utf-8');
    ctx.body = html;
  };
}

function pageOf(href: string): string {
  const links = RELATIONS.map((rel) => `<link rel="${rel}" href="${href}">`);
  return [
    '<!DOCTYPE html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<title>Source code deposits</title>',
    ...links,
    '</head>',
    '<body>',
    '<h1>Source code deposits</h1>',
    '<p>This service takes deposits of source code by SWORD 2.0. Give your client the address of its',
    `<a href="${href}">service document</a> and the credentials that you were given.</p>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
