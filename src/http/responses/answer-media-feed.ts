import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { RenderContext } from '../../sword/documents/document.ts';
import { mediaFeed } from '../../sword/documents/statement.ts';
import { accepts, FEED_TYPE, negotiate, type Offers } from '../../sword/headers/accept.ts';
import type { ServiceContext } from '../service-context.ts';
import { mediaTypeOf } from './answer-receipt.ts';
import { answerVersion } from './representation.ts';

export const MEDIA_FEED_OFFERS: Offers<'xml' | 'json'> = [
  { contentType: FEED_TYPE, format: 'xml' },
  { contentType: 'application/json', format: 'json' },
];

/**
 * Returns whether the client prefers a list of the archives to the archives. JSON counts only if the archives are not
 * acceptable, since libraries add it to `Accept` unasked.
 */
export function prefersFeed(ctx: ServiceContext, deposit: DepositContentView): boolean {
  ctx.vary('Accept');
  const { accept } = ctx.req.headers;
  const archives = { contentType: mediaTypeOf(deposit), format: 'archives' } as const;
  const offers: Offers<'archives' | 'xml' | 'json'> = [archives, ...MEDIA_FEED_OFFERS];
  const { format } = negotiate(offers, accept);
  return format === 'json' ? !accepts(accept, archives.contentType) : format === 'xml';
}

export function answerMediaFeed(
  ctx: ServiceContext,
  deposit: DepositContentView,
  renderContext: RenderContext,
  offers: Offers = MEDIA_FEED_OFFERS,
): void {
  answerVersion(ctx, deposit, offers, () => mediaFeed(deposit, renderContext), renderContext);
}
