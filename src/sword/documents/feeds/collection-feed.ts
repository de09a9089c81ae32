import { FEED_TYPE } from '../../headers/negotiate.ts';
import type { Iris } from '../../iris.ts';
import { ATOM } from '../../namespaces.ts';
import { type BodyElement, element } from '../../xml/xml-body.ts';
import { xmlText } from '../../xml/xml-text.ts';
import { depositElements } from '../deposit-elements.ts';
import { type DepositModel, titleOf, urnOf } from '../deposit-model.ts';
import { generatorElement } from '../generator.ts';
import type { RenderContext } from '../render-context.ts';

/** A page of a client's deposits in a collection, newest first. */
export type DepositList = {
  readonly collection: string;
  /** Title of the collection. */
  readonly title: string;
  /** The client. */
  readonly author: string;
  /** RFC 3339, UTC. */
  readonly updatedAt: string;
  /** Number of deposits on all pages. */
  readonly count: number;
  readonly links: readonly PageLink[];
  readonly deposits: readonly ListedDeposit[];
};

/** Link to a page (RFC 5005, section 3). */
export type PageLink = {
  readonly rel: 'self' | 'first' | 'previous' | 'next' | 'last';
  readonly href: string;
};

export type ListedDeposit = Omit<DepositModel, 'archive'> & {
  readonly completedAt: string | null;
  readonly externalId: string | null;
  /** Origin, known once the deposit is completed. */
  readonly origin: string | null;
};

/** Renders the list as an Atom feed, with the field names that existing clients know from lists. */
export function collectionFeed(
  list: DepositList,
  { iris, depositNamespace, generator }: RenderContext,
): string {
  const feed = [
    element('id', feedId(list, iris)),
    element('title', feedTitle(list)),
    element('updated', list.updatedAt),
    element('author', [element('name', list.author)]),
    generatorElement(generator),
    ...list.links.map((link) => element('link', '', { ...link, type: FEED_TYPE })),
    element('depositns:count', String(list.count)),
    ...list.deposits.map((deposit) => entryOf(deposit, iris)),
  ];
  return xmlText(element('feed', feed), { defaultNamespace: ATOM, depositNamespace });
}

/** Renders the same facts as JSON. */
export function collectionJson(
  list: DepositList,
  { iris, generator }: Pick<RenderContext, 'iris' | 'generator'>,
): string {
  return JSON.stringify({
    id: feedId(list, iris),
    title: feedTitle(list),
    updated: list.updatedAt,
    author: { name: list.author },
    generator,
    links: list.links,
    count: list.count,
    entries: list.deposits.map((deposit) => ({
      id: urnOf(deposit),
      title: titleOf(deposit),
      updated: deposit.updatedAt,
      published: deposit.createdAt,
      author: { name: deposit.author },
      links: linksOf(deposit, iris),
      ...fieldsOf(deposit),
      ...factsOf(deposit),
    })),
  });
}

function entryOf(deposit: ListedDeposit, iris: Iris): BodyElement {
  const facts = Object.entries({ id: deposit.depositId, ...factsOf(deposit) });
  return element('entry', [
    element('id', urnOf(deposit)),
    element('title', titleOf(deposit)),
    element('updated', deposit.updatedAt),
    element('published', deposit.createdAt),
    element('author', [element('name', deposit.author)]),
    ...linksOf(deposit, iris).map((link) => element('link', '', link)),
    ...facts.map(([name, value]) => element(`depositns:${name}`, String(value))),
    ...depositElements(fieldsOf(deposit)),
  ]);
}

/** Returns the fields that every document about a deposit has. */
function fieldsOf({ depositId, status }: ListedDeposit) {
  return { deposit_id: depositId, deposit_status: status } as const;
}

/** Returns the facts of a list entry, without those that are unknown so far. */
function factsOf({
  createdAt,
  completedAt,
  externalId,
  status,
  statusDetail,
  loaded,
  origin,
}: ListedDeposit) {
  return {
    reception_date: createdAt,
    ...(completedAt !== null && { complete_date: completedAt }),
    ...(externalId !== null && { external_id: externalId }),
    status,
    status_detail: statusDetail,
    ...(loaded && { swhid: loaded.refId, swhid_context: loaded.refIdContext }),
    ...(origin !== null && { origin_url: origin }),
  };
}

function linksOf({ collection, depositId }: ListedDeposit, iris: Iris) {
  return [
    { rel: 'edit', href: iris.edit(collection, depositId) },
    { rel: 'edit-media', href: iris.media(collection, depositId) },
    { rel: 'alternate', href: iris.status(collection, depositId) },
  ];
}

/** Returns the id of the feed; each client has its own. */
function feedId({ collection, author }: DepositList, iris: Iris): string {
  return `${iris.collection(collection)}#deposits-of-${encodeURIComponent(author)}`;
}

function feedTitle({ title, author }: DepositList): string {
  return `Deposits of ${author} in ${title}`;
}
