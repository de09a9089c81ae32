import type { DepositSearchView } from '../../../../projections/deposit-search.ts';
import type { ViewQuery } from '../../../views/view.ts';
import type { Filter } from '../protocol/deposit-list.ts';
import type { SearchResult } from '../protocol/search-result.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { ConsoleRefusal, type Route } from '../server/route.ts';
import { archiveTerm, pageOf, rowOf, selectionOf } from './deposit-query.ts';
import type { VisibleDeposits } from './visible-deposits.ts';

/** Maximum number of deposits of an answer. */
const MAX_FOUND = 20;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the route of the search box: it finds out what a text is, and the deposits that it names. */
export function searchRoutes({ depositsOf }: ConsoleParts): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/console/api/search',
      permission: 'deposits:read',
      answer: ({ ctx, query, viewer }) => {
        const text = (query.get('q') ?? '').trim();
        if (text === '') throw new ConsoleRefusal(400, 'NOTHING_TO_SEARCH', 'Type what to search for.');
        ctx.body = resultOf(depositsOf(viewer), text, viewer.scope === null);
      },
    },
  ];
}

function resultOf(deposits: VisibleDeposits, text: string, seesAll: boolean): SearchResult {
  const lower = text.toLowerCase();
  if (/^[1-9]\d{0,14}$/.test(text)) {
    const found = deposits.get(text);
    return of('deposit id', found ? [found] : []);
  }
  if (UUID.test(lower)) return of('UUID of a deposit', find(deposits, { equal: { uuid: lower } }));
  if (/^[0-9a-f]{64}$/.test(lower)) {
    const found = find(deposits, { contains: { terms: [archiveTerm(lower)] } });
    const exact = found.filter(({ archives }) => archives.some(({ sha256 }) => sha256 === lower));
    return of('SHA-256 of an archive', exact);
  }
  if (lower.startsWith('swh:')) return filtered(deposits, 'SWHID', { swhid: text });
  if (/^https?:\/\/\S+$/.test(text)) {
    const exact = filtered(deposits, 'origin', { origin: text });
    if (exact.deposits.length > 0) return exact;
  }
  if (seesAll && deposits.counts({ client: text }).size > 0)
    return filtered(deposits, 'client', { client: text });
  return filtered(deposits, 'text', { q: text });
}

function find(deposits: VisibleDeposits, query: Omit<ViewQuery, 'limit'>): readonly DepositSearchView[] {
  return deposits.find({ ...query, limit: MAX_FOUND });
}

function of(understoodAs: SearchResult['understoodAs'], found: readonly DepositSearchView[]): SearchResult {
  return { understoodAs, deposits: found.map(rowOf), list: null };
}

function filtered(
  deposits: VisibleDeposits,
  understoodAs: SearchResult['understoodAs'],
  filter: Filter,
): SearchResult {
  const { rows } = pageOf(deposits, selectionOf(filter), undefined, MAX_FOUND);
  return { understoodAs, deposits: rows, list: new URLSearchParams(filter).toString() };
}
