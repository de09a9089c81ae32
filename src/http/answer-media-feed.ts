import type { DepositContentView } from '../../projections/deposit-content.ts';
import type { Language } from '../sword/language.ts';
import { mediaFeed } from '../sword/media-feed.ts';
import { FEED_TYPE, negotiateAmong, type Offers } from '../sword/negotiate.ts';
import { mediaTypeOf } from './answer-documents.ts';
import { chooseRepresentation } from './choose-representation.ts';
import type { DepositDesk } from './deposit-desk.ts';
import { notFound } from './not-found.ts';
import type { ServiceContext } from './service-context.ts';

/** Whether the client would rather have a list of the archives than the archives. */
export function prefersFeed(ctx: ServiceContext, deposit: DepositContentView): boolean {
  ctx.vary('Accept');
  const offers: Offers<'archives' | 'feed'> = [
    { contentType: mediaTypeOf(deposit), format: 'archives' },
    { contentType: FEED_TYPE, format: 'feed' },
  ];
  return negotiateAmong(offers, ctx.req.headers.accept).format === 'feed';
}

/** The archives of a deposit, one entry each. */
export async function answerMediaFeed(
  ctx: ServiceContext,
  { depositId, revision }: DepositContentView,
  desk: DepositDesk,
  language: Language,
): Promise<void> {
  const offers: Offers<'feed'> = [{ contentType: FEED_TYPE, format: 'feed' }];
  if (!chooseRepresentation(ctx, { depositId, revision }, offers)) return;
  const view = await desk.statement(depositId, revision);
  if (!view) throw notFound(`Deposit ${depositId} has been deleted.`);
  ctx.body = mediaFeed({ ...view, author: view.client }, language);
  ctx.set('Content-Type', FEED_TYPE);
}
