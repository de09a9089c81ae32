import { isStatus, STATUSES, type Status } from '../../domain/deposit/status-detail.ts';
import type { PageLink } from '../../sword/documents/collection-feed.ts';
import type { Iris } from '../../sword/iris.ts';
import { badRequest, quoted } from '../../sword/sword-error.ts';
import { depositIdIn } from '../resource.ts';
import type { ServiceContext } from '../service-context.ts';
import type { DepositPage, DepositQuery } from './deposit-page.ts';

export const PAGE_SIZE = 100;
/** Whoever asks for more gets this much: existing clients go on by the links in any case. */
export const MAX_PAGE_SIZE = 1000;

/** What the query of a request asks of a collection; parameters that nobody knows are passed over. @throws 400 */
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
    beside: besideIn(parameters),
  };
}

/** Links to this page and those around it; the way on goes by the deposits, so that none is shown twice or missed. */
export function pageLinks(query: DepositQuery, { deposits, lastPage, goesOn }: DepositPage, iris: Iris) {
  const { page, collection } = query;
  const [first, last] = [deposits.at(0), deposits.at(-1)];
  const before = Math.min(page - 1, lastPage);
  const link = (rel: PageLink['rel'], to: number, beside: DepositQuery['beside'] = null): PageLink => ({
    rel,
    href: iris.collection(collection, parametersOf({ ...query, page: to, beside })),
  });
  return [
    link('self', page, query.beside),
    link('first', 1),
    ...(page > 1 ? [link('previous', before, before > 1 && first ? side('above', first) : null)] : []),
    ...(goesOn && last ? [link('next', page + 1, side('below', last))] : []),
    link('last', lastPage),
  ];
}

/** The same links for the header (RFC 8288). */
export function linkHeader(links: readonly PageLink[]): string {
  return links
    .filter(({ rel }) => rel !== 'self')
    .map(({ rel, href }) => `<${href}>; rel="${rel}"`)
    .join(', ');
}

type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;

function parametersOf({ page, pageSize, status, origin, beside }: DepositQuery): Record<string, string> {
  return {
    page: String(page),
    page_size: String(pageSize),
    ...(status !== null && { status }),
    ...(origin !== null && { origin }),
    ...(beside && { [beside.side]: String(beside.depositId) }),
  };
}

function side(name: 'below' | 'above', { depositId }: { readonly depositId: number }) {
  return { side: name, depositId };
}

function statusIn(parameters: Parameters): Status | null {
  const text = textOf(parameters, 'status');
  if (text === undefined) return null;
  if (isStatus(text)) return text;
  throw badRequest(`status=${quoted(text)} is no status of a deposit: send one of ${STATUSES.join(', ')}.`);
}

function besideIn(parameters: Parameters): DepositQuery['beside'] {
  const [below, above] = [depositId(parameters, 'below'), depositId(parameters, 'above')];
  if (below !== undefined && above !== undefined) throw badRequest('Send below or above, not both.');
  if (below !== undefined) return side('below', { depositId: below });
  return above === undefined ? null : side('above', { depositId: above });
}

function depositId(parameters: Parameters, name: string): number | undefined {
  const text = textOf(parameters, name);
  if (text === undefined) return undefined;
  const id = depositIdIn(text);
  if (id === undefined) throw badRequest(`${name}=${quoted(text)} is no deposit id.`);
  return id;
}

function wholeNumber(parameters: Parameters, name: string): number | undefined {
  const text = textOf(parameters, name);
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw badRequest(`${name}=${quoted(text)} is no whole number from 1 to 999999999.`);
}

function textOf(parameters: Parameters, name: string): string | undefined {
  const value = parameters[name];
  if (value === undefined || typeof value === 'string') return value;
  throw badRequest(`The parameter ${name} was sent ${value.length} times: send it once.`);
}
