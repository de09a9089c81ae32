import { pageOf } from '../listing/deposit-pages.ts';
import { cursorIn, selectionOf } from '../listing/deposit-query.ts';
import { type DepositPage, filterIn } from '../protocol/deposit-list.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import type { Route, ViewerRequest } from '../server/route.ts';

const PAGE_SIZE = 50;

export function depositRoutes({ depositsOf }: ConsoleParts): readonly Route[] {
  return [{ method: 'GET', path: '/console/api/deposits', permission: 'deposits:read', answer: page }];

  async function page({ query, viewer }: ViewerRequest): Promise<DepositPage> {
    const { status: _, client, collection, ...others } = filterIn(query);
    const isCounted = Object.keys(others).length === 0;
    const deposits = await depositsOf(viewer).settled();
    return {
      ...pageOf(deposits, selectionOf(filterIn(query)), cursorIn(query.get('before')), PAGE_SIZE),
      counts: isCounted ? Object.fromEntries(deposits.counts({ client, collection })) : null,
    };
  }
}
