import { FEED_TYPE } from '../headers/accept.ts';
import type { Iris } from '../iris.ts';
import { element } from '../xml/xml-body.ts';
import { type DepositModel, headFacts } from './deposit-model.ts';
import {
  authorFact,
  type Document,
  depositFields,
  type Fact,
  generatorFact,
  linksFact,
  onlyJson,
  onlyXml,
  type Part,
  type RenderContext,
  text,
} from './document.ts';

/** A page of a client's deposits in a collection, newest first. */
export type DepositList = {
  readonly collection: string;
  /** Title of the collection. */
  readonly title: string;
  readonly client: string;
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
  /** Changes with everything that the list shows of the deposit. */
  readonly version: string;
  readonly completedAt: string | null;
  readonly externalId: string | null;
  /** Origin, known once the deposit is completed. */
  readonly origin: string | null;
};

/** Describes the list as an Atom feed, with the field names that existing clients know from lists. */
export function collectionFeed(
  list: DepositList,
  { iris, generator }: Pick<RenderContext, 'iris' | 'generator'>,
): Document {
  const { collection, title, client } = list;
  return {
    element: 'feed',
    isHot: true,
    facts: [
      text('id', `${iris.collection(collection)}#deposits-of-${encodeURIComponent(client)}`), // each client has its own
      text('title', `Deposits of ${client} in ${title}`),
      text('updated', list.updatedAt),
      authorFact(client),
      generatorFact(generator),
      linksFact(list.links, FEED_TYPE),
      text('count', list.count, 'depositns:count'),
      { name: 'entries', parts: list.deposits.values().map((deposit) => entryOf(deposit, iris)) },
    ],
  };
}

function entryOf(deposit: ListedDeposit, iris: Iris): Part {
  return {
    element: 'entry',
    key: deposit.version,
    get facts() {
      return factsOf(deposit, iris);
    },
  };
}

function factsOf(deposit: ListedDeposit, iris: Iris): Fact[] {
  const { depositId, status } = deposit;
  const fields = { deposit_id: depositId, deposit_status: status } as const; // which every document about a deposit has
  return [
    ...headFacts(deposit),
    text('published', deposit.createdAt),
    authorFact(deposit.client),
    linksFact(linksOf(deposit, iris)),
    ...onlyJson(fields),
    onlyXml(element('depositns:id', String(depositId))),
    ...Object.entries(ownFacts(deposit)).map(([name, value]) => text(name, value, `depositns:${name}`)),
    ...depositFields(fields).map(({ elements = [] }) => onlyXml(...elements)),
  ];
}

/** Returns the facts that only a list has, without those that are unknown so far. */
function ownFacts({
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
