import type { DepositSearchView } from '../../../../projections/deposit-search.ts';
import type { View, ViewQuery } from '../../../views/view.ts';
import type { Viewer } from '../access/sessions.ts';
import type { Filter } from '../protocol/deposit-list.ts';
import type { SearchResult } from '../protocol/search-result.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { ConsoleRefusal, type Route } from '../server/route.ts';
import { archiveTerm, pageOf, rowOf, selectionOf } from './deposit-query.ts';

/** Maximum number of deposits of an answer. */
const MAX_FOUND = 20;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the route of the search box: it finds out what a text is, and the deposits that it names. */
export function searchRoutes({ deposits: view }: ConsoleParts): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/console/api/search',
      permission: 'deposits:read',
      answer: ({ ctx, query, viewer }) => {
        const text = (query.get('q') ?? '').trim();
        if (text === '') throw new ConsoleRefusal(400, 'NOTHING_TO_SEARCH', 'Type what to search for.');
        ctx.body = resultOf(view, text, viewer);
      },
    },
  ];
}

function resultOf(view: View<DepositSearchView>, text: string, viewer: Viewer): SearchResult {
  const lower = text.toLowerCase();
  if (/^[1-9]\d{0,14}$/.test(text)) {
    const found = view.get(text);
    return of('deposit id', found ? [found] : [], viewer);
  }
  if (UUID.test(lower)) return of('UUID of a deposit', find(view, { equal: { uuid: lower } }), viewer);
  if (/^[0-9a-f]{64}$/.test(lower)) {
    const found = find(view, { contains: { terms: [archiveTerm(lower)] } });
    const exact = found.filter(({ archives }) => archives.some(({ sha256 }) => sha256 === lower));
    return of('SHA-256 of an archive', exact, viewer);
  }
  if (lower.startsWith('swh:')) return filtered(view, 'SWHID', { swhid: text }, viewer);
  if (/^https?:\/\/\S+$/.test(text)) {
    const exact = filtered(view, 'origin', { origin: text }, viewer);
    if (exact.deposits.length > 0) return exact;
  }
  if (viewer.client === null && view.counts({ client: text }).size > 0)
    return filtered(view, 'client', { client: text }, viewer);
  return filtered(view, 'text', { q: text }, viewer);
}

function find(view: View<DepositSearchView>, query: Omit<ViewQuery, 'limit'>): DepositSearchView[] {
  return view.find({ ...query, limit: MAX_FOUND });
}

function of(
  understoodAs: SearchResult['understoodAs'],
  found: readonly DepositSearchView[],
  viewer: Viewer,
): SearchResult {
  const visible = found.filter(({ client }) => viewer.client === null || client === viewer.client);
  return { understoodAs, deposits: visible.map(rowOf), list: null };
}

function filtered(
  view: View<DepositSearchView>,
  understoodAs: SearchResult['understoodAs'],
  filter: Filter,
  viewer: Viewer,
): SearchResult {
  const { rows } = pageOf(view, selectionOf(filter, viewer), undefined, MAX_FOUND);
  return { understoodAs, deposits: rows, list: new URLSearchParams(filter).toString() };
}
