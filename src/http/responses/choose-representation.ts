import { assertMatches, entityTag, isNotModified, type Tagged } from '../../sword/headers/entity-tag.ts';
import { negotiateAmong, type Offers, type Representation } from '../../sword/headers/negotiate.ts';
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
  const chosen = negotiateAmong(offers, ctx.req.headers.accept);
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

function isRead({ method }: ServiceContext): boolean {
  return method === 'GET' || method === 'HEAD';
}
