import { entityTag, isNotModified } from '../sword/entity-tag.ts';
import { negotiateAmong, type Offers, type Representation } from '../sword/negotiate.ts';
import type { ServiceContext } from './service-context.ts';

/** Of what a document tells: everything shown of a deposit at one revision is the same for ever. */
export type AtRevision = { readonly depositId: number; readonly revision: number };

/** What to answer with; `undefined` when the client holds it already and has been told so. */
export function chooseRepresentation<Format extends string>(
  ctx: ServiceContext,
  { depositId, revision }: AtRevision,
  offers: Offers<Format>,
): Representation<Format> | undefined {
  const tag = entityTag(depositId, revision);
  ctx.set('ETag', tag);
  ctx.vary('Accept');
  if (isRead(ctx) && isNotModified(ctx.req.headers['if-none-match'], tag)) {
    ctx.status = 304;
    return undefined;
  }
  return negotiateAmong(offers, ctx.req.headers.accept);
}

function isRead({ method }: ServiceContext): boolean {
  return method === 'GET' || method === 'HEAD';
}
