import { type DepositPage, filterIn } from '../protocol/deposit-list.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import type { Route } from '../server/route.ts';
import { cursorIn, pageOf, selectionOf } from './deposit-query.ts';

const PAGE_SIZE = 50;

/** Returns the routes of the list of deposits. */
export function depositRoutes({ deposits: view }: ConsoleParts): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/console/api/deposits',
      permission: 'deposits:read',
      answer: ({ ctx, query, viewer }) => {
        const { q, origin, reason, swhid, since, until, ...owner } = filterIn(query);
        const isCounted = [q, origin, reason, swhid, since, until].every((value) => value === undefined);
        const client = viewer.client ?? owner.client;
        const counted = {
          ...(client !== undefined && { client }),
          ...(owner.collection !== undefined && { collection: owner.collection }),
        };
        const selection = selectionOf(filterIn(query), viewer);
        ctx.body = {
          ...pageOf(view, selection, cursorIn(query.get('before')), PAGE_SIZE),
          counts: isCounted ? Object.fromEntries(view.counts(counted)) : null,
        } satisfies DepositPage;
      },
    },
  ];
}
