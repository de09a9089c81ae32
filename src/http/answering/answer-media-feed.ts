import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { Language } from '../../sword/documents/language.ts';
import { mediaFeed, mediaFeedJson } from '../../sword/documents/media-feed.ts';
import { accepts, FEED_TYPE, negotiateAmong, type Offers } from '../../sword/headers/negotiate.ts';
import { notFound } from '../../sword/sword-error.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import type { ServiceContext } from '../service-context.ts';
import { mediaTypeOf } from './answer-documents.ts';
import { chooseRepresentation } from './choose-representation.ts';

export const MEDIA_FEED_OFFERS: Offers = [
  { contentType: FEED_TYPE, format: 'xml' },
  { contentType: 'application/json', format: 'json' },
];

/**
 * Whether the client would rather have a list of the archives than the archives. Who would take anything as well
 * does not: libraries name JSON beside that without being asked to.
 */
export function prefersFeed(ctx: ServiceContext, deposit: DepositContentView): boolean {
  ctx.vary('Accept');
  const { accept } = ctx.req.headers;
  const archives = { contentType: mediaTypeOf(deposit), format: 'archives' } as const;
  const offers: Offers<'archives' | 'xml' | 'json'> = [archives, ...MEDIA_FEED_OFFERS];
  const { format } = negotiateAmong(offers, accept);
  return format === 'json' ? !accepts(accept, archives.contentType) : format === 'xml';
}

/** The archives of a deposit, one entry each. */
export async function answerMediaFeed(
  ctx: ServiceContext,
  { depositId, revision }: DepositContentView,
  desk: DepositDesk,
  language: Language,
): Promise<void> {
  const chosen = chooseRepresentation(ctx, { depositId, revision, made: 'feed' }, MEDIA_FEED_OFFERS);
  if (!chosen) return;
  const view = await desk.statement(depositId, revision);
  if (!view) throw notFound(`Deposit ${depositId} has been deleted.`);
  const render = { xml: mediaFeed, json: mediaFeedJson }[chosen.format];
  ctx.body = render({ ...view, author: view.client }, language);
  ctx.set('Content-Type', chosen.contentType);
}
