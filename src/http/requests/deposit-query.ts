import type { DepositPage, DepositQuery } from '../../deposits/deposit-page.ts';
import { isStatus, STATUSES, type Status } from '../../domain/deposit/status-detail.ts';
import type { PageLink } from '../../sword/documents/collection-feed.ts';
import type { Iris } from '../../sword/iris.ts';
import { badRequest, quoted } from '../../sword/sword-error.ts';
import type { ServiceContext } from '../service-context.ts';
import { depositIdIn } from './path-names.ts';

export const PAGE_SIZE = 100;
/** Maximum page size; larger requests get this, since existing clients follow the links in any case. */
export const MAX_PAGE_SIZE = 1000;

/** Parses the query of a collection's list; unknown parameters are ignored. @throws {SwordError} 400 */
export function depositQueryIn({ query, state }: ServiceContext, collection: string): DepositQuery {
  const parameters = query as Parameters;
  const pageSize = wholeNumber(parameters, 'page_size') ?? PAGE_SIZE;
  return {
    client: state.login.client,
    collection,
    status: statusIn(parameters),
    origin: textOf(parameters, 'origin') ?? null,
    page: wholeNumber(parameters, 'page') ?? 1,
    pageSize: Math.min(pageSize, MAX_PAGE_SIZE),
    cursor: cursorIn(parameters),
  };
}

/**
 * Returns links to this page and the adjacent ones. The next and previous links name deposit ids, so that changes
 * of the list neither repeat nor skip a deposit.
 */
export function pageLinks(
  query: DepositQuery,
  { deposits, lastPage, hasMore, hasNewer }: DepositPage,
  iris: Iris,
) {
  const { page, collection } = query;
  const [first, last] = [deposits.at(0), deposits.at(-1)];
  const before = Math.max(1, Math.min(page - 1, lastPage));
  const link = (rel: PageLink['rel'], to: number, cursor: DepositQuery['cursor'] = null): PageLink => ({
    rel,
    href: iris.collection(collection, parametersOf({ ...query, page: to, cursor })),
  });
  return [
    link('self', page, query.cursor),
    link('first', 1),
    ...(hasNewer ? [link('previous', before, first ? side('above', first) : null)] : []),
    ...(hasMore && last ? [link('next', page + 1, side('below', last))] : []),
    link('last', lastPage),
  ];
}

/** Maximum bytes of the `Link` header. Each link repeats the origin, and clients limit all headers, Node to 16 KiB. */
const MAX_LINK_BYTES = 4_096;

/** The links of the header, the most needed first. */
const LINKED: readonly PageLink['rel'][] = ['next', 'previous', 'first', 'last'];

/** Returns the same links as a `Link` header (RFC 8288), as far as they fit; `undefined` if none does. */
export function linkHeader(links: readonly PageLink[]): string | undefined {
  let bytes = 0;
  const fitting = LINKED.flatMap((wanted) => links.filter(({ rel }) => rel === wanted)).filter(
    (link) => (bytes += headerLink(link).length + 2) <= MAX_LINK_BYTES,
  );
  if (fitting.length === 0) return undefined;
  return links
    .filter((link) => fitting.includes(link))
    .map(headerLink)
    .join(', ');
}

function headerLink({ rel, href }: PageLink): string {
  return `<${href}>; rel="${rel}"`;
}

type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;

function parametersOf({ page, pageSize, status, origin, cursor }: DepositQuery): Record<string, string> {
  return {
    page: String(page),
    page_size: String(pageSize),
    ...(status !== null && { status }),
    ...(origin !== null && { origin }),
    ...(cursor && { [cursor.side]: String(cursor.depositId) }),
  };
}

function side(name: 'below' | 'above', { depositId }: { readonly depositId: number }) {
  return { side: name, depositId };
}

function statusIn(parameters: Parameters): Status | null {
  const text = textOf(parameters, 'status');
  if (text === undefined) return null;
  if (isStatus(text)) return text;
  throw badRequest(
    `status=${quoted(text)} is not a status of a deposit: send one of ${STATUSES.join(', ')}.`,
  );
}

function cursorIn(parameters: Parameters): DepositQuery['cursor'] {
  const [below, above] = [depositId(parameters, 'below'), depositId(parameters, 'above')];
  if (below !== undefined && above !== undefined) throw badRequest('Send below or above, not both.');
  if (below !== undefined) return side('below', { depositId: below });
  return above === undefined ? null : side('above', { depositId: above });
}

function depositId(parameters: Parameters, name: string): number | undefined {
  const text = textOf(parameters, name);
  if (text === undefined) return undefined;
  const id = depositIdIn(text);
  if (id === undefined) throw badRequest(`${name}=${quoted(text)} is not a deposit id.`);
  return id;
}

function wholeNumber(parameters: Parameters, name: string): number | undefined {
  const text = textOf(parameters, name);
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw badRequest(`${name}=${quoted(text)} is not a whole number from 1 to 999999999.`);
}

function textOf(parameters: Parameters, name: string): string | undefined {
  const value = parameters[name];
  if (value === undefined || typeof value === 'string') return value;
  throw badRequest(`The parameter ${name} was sent ${value.length} times: send it once.`);
}
