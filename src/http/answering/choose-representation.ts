import { entityTag, isNotModified, type Made } from '../../sword/headers/entity-tag.ts';
import { negotiateAmong, type Offers, type Representation } from '../../sword/headers/negotiate.ts';
import type { ServiceContext } from '../service-context.ts';

/** Of what a document tells: everything shown of a deposit at one revision is the same for ever. */
export type AtRevision = {
  readonly depositId: number;
  readonly revision: number;
  /** False when something could not be told just now: nobody is to hold that for the rest of the revision. */
  readonly isWhole?: boolean;
  /** True when it also tells what has changed since the revision: nobody holds that by it. */
  readonly isOvertaken?: boolean;
  /** What it is, where the same IRI has the archives themselves. */
  readonly made?: Made;
};

/** What to answer with; `undefined` when the client holds it already and has been told so. */
export function chooseRepresentation<Format extends string>(
  ctx: ServiceContext,
  { depositId, revision, isWhole = true, isOvertaken = false, made }: AtRevision,
  offers: Offers<Format>,
): Representation<Format> | undefined {
  const tag = entityTag(depositId, revision, made);
  const isHeld = isRead(ctx) && !isOvertaken && isNotModified(ctx.req.headers['if-none-match'], tag);
  if (isWhole || isHeld) ctx.set('ETag', tag);
  else ctx.remove('ETag'); // that of the change that is answered
  ctx.vary('Accept');
  if (isHeld) {
    ctx.status = 304;
    return undefined;
  }
  return negotiateAmong(offers, ctx.req.headers.accept);
}

function isRead({ method }: ServiceContext): boolean {
  return method === 'GET' || method === 'HEAD';
}
