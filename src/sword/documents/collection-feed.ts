import { FEED_TYPE } from '../headers/negotiate.ts';
import type { Iris } from '../iris.ts';
import { ATOM } from '../namespaces.ts';
import { depositElements } from './deposit-elements.ts';
import { generatorElement } from './generator.ts';
import type { Language } from './language.ts';
import { type ShownDeposit, titleOf, urnOf } from './shown-deposit.ts';
import { type BodyElement, element } from './xml-body.ts';
import { xmlText } from './xml-text.ts';

/** A page of the deposits that a client has made in a collection, newest first. */
export type DepositList = {
  readonly collection: string;
  /** Of the collection. */
  readonly title: string;
  /** The client. */
  readonly author: string;
  /** RFC 3339, UTC. */
  readonly updatedAt: string;
  /** Deposits on all pages. */
  readonly count: number;
  readonly links: readonly PageLink[];
  readonly deposits: readonly ListedDeposit[];
};

/** To this page or another one (RFC 5005, section 3). */
export type PageLink = {
  readonly rel: 'self' | 'first' | 'previous' | 'next' | 'last';
  readonly href: string;
};

export type ListedDeposit = Omit<ShownDeposit, 'archive'> & {
  readonly completedAt: string | null;
  readonly externalId: string | null;
  /** Decided with the completion. */
  readonly origin: string | null;
};

/** The list as an Atom feed. What it tells of each deposit has the names that existing clients know from a list. */
export function collectionFeed(list: DepositList, { iris, depositNamespace, generator }: Language): string {
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

/** The same facts as JSON. */
export function collectionJson(
  list: DepositList,
  { iris, generator }: Pick<Language, 'iris' | 'generator'>,
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

/** What every document about a deposit tells of it. */
function fieldsOf({ depositId, status }: ListedDeposit) {
  return { deposit_id: depositId, deposit_status: status } as const;
}

/** What is not known of the deposit, or not yet, is left out. */
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

/** Each client has a feed of its own. */
function feedId({ collection, author }: DepositList, iris: Iris): string {
  return `${iris.collection(collection)}#deposits-of-${encodeURIComponent(author)}`;
}

function feedTitle({ title, author }: DepositList): string {
  return `Deposits of ${author} in ${title}`;
}
