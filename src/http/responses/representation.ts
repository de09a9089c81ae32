import type { Context } from 'koa';
import type { Document, RenderContext } from '../../sword/documents/document.ts';
import { HTML_POLICY } from '../../sword/documents/html-page.ts';
import { type Format, render } from '../../sword/documents/render.ts';
import { negotiate, type Offers, type Representation } from '../../sword/headers/accept.ts';
import { assertMatches, entityTag, isNotModified, type Tagged } from '../../sword/headers/entity-tag.ts';
import type { ServiceContext } from '../service-context.ts';

/** A version of a document; everything shown of a deposit at one revision is immutable. */
export type AtRevision = {
  readonly depositId: number;
  readonly revision: number;
  /** False if a part could not be read now: clients must not store the document under the tag of the revision. */
  readonly isWhole?: boolean;
  /** True if the document also shows later changes: the tag of the revision must not validate it. */
  readonly isOvertaken?: boolean;
};

/**
 * Chooses the representation to answer with. Returns `undefined` if the client has the current version, which is
 * answered with 304.
 * @throws {SwordError} 412: a read requires another revision by `If-Match`.
 */
export function chooseRepresentation<Format extends Tagged>(
  ctx: ServiceContext,
  { depositId, revision, isWhole = true, isOvertaken = false }: AtRevision,
  offers: Offers<Format>,
): Representation<Format> | undefined {
  if (isRead(ctx)) assertMatches(ctx.req.headers['if-match'], entityTag(depositId, revision));
  const chosen = negotiate(offers, ctx.req.headers.accept);
  const tag = entityTag(depositId, revision, chosen.format);
  const isCurrent = isRead(ctx) && !isOvertaken && isNotModified(ctx.req.headers['if-none-match'], tag);
  if (isWhole || isCurrent) ctx.set('ETag', tag);
  else ctx.remove('ETag'); // remove the tag of the change that is answered
  ctx.vary('Accept');
  if (isCurrent) {
    ctx.status = 304;
    return undefined;
  }
  return chosen;
}

/** Answers with a document about a version of a deposit as the client prefers it, or with 304. */
export function answerVersion<Form extends Tagged & Format>(
  ctx: ServiceContext,
  version: AtRevision,
  offers: Offers<Form>,
  describe: () => Document,
  context: RenderContext,
): void {
  const chosen = chooseRepresentation(ctx, version, offers);
  if (chosen) answerDocument(ctx, chosen.contentType, render(describe(), chosen.format, context));
}

/** Sets the tag of an answer. Returns whether the client has this version, and answers 304 if so. */
export function answersNotModified(ctx: ServiceContext, tag: string): boolean {
  ctx.set('ETag', tag);
  if (!isNotModified(ctx.req.headers['if-none-match'], tag)) return false;
  ctx.status = 304;
  return true;
}

function isRead({ method }: ServiceContext): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Policy of XML documents: viewers of browsers add a style of their own. */
const XML_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Answers with a document, its media type, and the policy under which browsers may show it. */
export function answerDocument(ctx: Pick<Context, 'set' | 'body'>, contentType: string, body: string): void {
  setDocumentType(ctx, contentType); // first: Koa guesses the type of a body without one
  ctx.body = body;
}

/** Sets the media type and the policy of a document that is sent in pieces. */
export function setDocumentType(ctx: Pick<Context, 'set'>, contentType: string): void {
  const isPage = contentType === 'text/html';
  if (isPage) ctx.set('Content-Security-Policy', HTML_POLICY);
  else if (/[/+]xml\b/.test(contentType)) ctx.set('Content-Security-Policy', XML_POLICY);
  ctx.set('Content-Type', isPage ? `${contentType}; charset=utf-8` : contentType);
}
