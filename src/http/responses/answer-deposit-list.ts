import type { CollectionView } from '../../../projections/collections.ts';
import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import type { DepositQueries } from '../../deposits/queries.ts';
import { withIdentifiers } from '../../swhid/deposit-identifiers.ts';
import { collectionFeed, type ListedDeposit } from '../../sword/documents/collection-feed.ts';
import type { RenderContext } from '../../sword/documents/document.ts';
import { renderInPieces, type TextCache } from '../../sword/documents/render.ts';
import { FEED_TYPE, negotiate, type Offers, PAGE } from '../../sword/headers/accept.ts';
import { notFound } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import { depositQueryIn, linkHeader, PAGE_SIZE, pageLinks } from '../requests/deposit-query.ts';
import type { ServiceContext } from '../service-context.ts';
import { type LongAnswers, sendInPieces } from './long-answers.ts';
import { answerDocument, setDocumentType } from './representation.ts';

export const LIST_OFFERS: Offers = [
  { contentType: 'application/xml', format: 'xml' },
  { contentType: 'application/atom+xml', format: 'xml' },
  { contentType: FEED_TYPE, format: 'xml' },
  { contentType: 'application/json', format: 'json' },
  PAGE,
];

/** The parts that all lists share. */
export type ListParts = {
  /** Limits lists of more deposits than a page has by default. */
  readonly longAnswers: LongAnswers;
  /** Texts of entries, which change with their deposit. */
  readonly entryTexts: TextCache;
};

/** Answers with a page of the client's deposits in a collection, from this node's views. */
export async function answerDepositList(
  ctx: ServiceContext,
  { collection, title }: CollectionView,
  queries: DepositQueries,
  renderContext: RenderContext,
  { longAnswers, entryTexts }: ListParts,
): Promise<void> {
  const query = depositQueryIn(ctx, collection);
  if (query.pageSize > PAGE_SIZE) await longAnswers.begin(ctx);
  const page = await queries.list(query);
  if (!query.cursor && query.page > page.lastPage) {
    throw notFound(`There is no page ${query.page} of these deposits: the last page is ${page.lastPage}.`);
  }
  const links = pageLinks(query, page, renderContext.iris);
  const list = {
    collection,
    title,
    client: query.client,
    updatedAt: latestOf(page.deposits) ?? clock.date().toISOString(),
    count: page.total,
    links,
    deposits: page.deposits.map((deposit) => toListedDeposit(deposit, queries.viewGeneration)),
  };
  const { contentType, format } = negotiate(LIST_OFFERS, ctx.req.headers.accept);
  ctx.vary('Accept');
  const link = linkHeader(links);
  if (link !== undefined) ctx.set('Link', link);
  const pieces = renderInPieces(collectionFeed(list, renderContext), format, renderContext, entryTexts);
  if (page.deposits.length <= PAGE_SIZE) return answerDocument(ctx, contentType, [...pieces].join(''));
  setDocumentType(ctx, contentType);
  await sendInPieces(ctx, pieces);
}

function toListedDeposit(deposit: DepositStatusView, viewGeneration: number): ListedDeposit {
  const { depositId, revision } = deposit;
  return { ...withIdentifiers(deposit), version: `${viewGeneration} ${depositId} ${revision}` };
}

function latestOf(deposits: readonly DepositStatusView[]): string | undefined {
  return deposits
    .map(({ updatedAt }) => updatedAt)
    .toSorted()
    .at(-1);
}
