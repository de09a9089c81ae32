import type { CollectionView } from '../../../projections/collections.ts';
import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import { collectionFeed, collectionJson, type ListedDeposit } from '../../sword/documents/collection-feed.ts';
import type { Language } from '../../sword/documents/language.ts';
import { FEED_TYPE, negotiateAmong, type Offers } from '../../sword/headers/negotiate.ts';
import { notFound } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import type { ServiceContext } from '../service-context.ts';
import { identifiersOf } from './answer-documents.ts';
import { depositQueryIn, linkHeader, pageLinks } from './deposit-query.ts';

export const LIST_OFFERS: Offers = [
  { contentType: 'application/xml', format: 'xml' },
  { contentType: 'application/atom+xml', format: 'xml' },
  { contentType: FEED_TYPE, format: 'xml' },
  { contentType: 'application/json', format: 'json' },
];

/** A page of the client's deposits in a collection, as this node knows them. */
export function answerDepositList(
  ctx: ServiceContext,
  { collection, title }: CollectionView,
  desk: DepositDesk,
  language: Language,
): void {
  const query = depositQueryIn(ctx, collection);
  const page = desk.list(query);
  if (!query.beside && query.page > page.lastPage) {
    throw notFound(`There is no page ${query.page} of these deposits: the last page is ${page.lastPage}.`);
  }
  const links = pageLinks(query, page, language.iris);
  const list = {
    collection,
    title,
    author: query.client,
    updatedAt: latestOf(page.deposits) ?? clock.date().toISOString(),
    count: page.total,
    links,
    deposits: page.deposits.map(listed),
  };
  const { contentType, format } = negotiateAmong(LIST_OFFERS, ctx.req.headers.accept);
  ctx.vary('Accept');
  ctx.set('Link', linkHeader(links));
  ctx.body = { xml: collectionFeed, json: collectionJson }[format](list, language);
  ctx.set('Content-Type', contentType);
}

function listed(deposit: DepositStatusView): ListedDeposit {
  const { client: author, externalIdentifier, slug } = deposit;
  return { ...deposit, author, externalId: externalIdentifier ?? slug, loaded: identifiersOf(deposit) };
}

function latestOf(deposits: readonly DepositStatusView[]): string | undefined {
  return deposits
    .map(({ updatedAt }) => updatedAt)
    .toSorted()
    .at(-1);
}
