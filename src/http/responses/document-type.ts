import type { Context } from 'koa';
import { HTML_POLICY } from '../../sword/documents/html-page.ts';

/** Policy of XML documents: viewers of browsers add a style of their own. */
const XML_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Sets the media type of a document, and the policy under which browsers may show it. */
export function setDocumentType(ctx: Pick<Context, 'set'>, contentType: string): void {
  const isPage = contentType === 'text/html';
  if (isPage) ctx.set('Content-Security-Policy', HTML_POLICY);
  else if (/[/+]xml\b/.test(contentType)) ctx.set('Content-Security-Policy', XML_POLICY);
  ctx.set('Content-Type', isPage ? `${contentType}; charset=utf-8` : contentType);
}
