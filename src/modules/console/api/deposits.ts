import { type DepositPage, filterIn } from '../protocol/deposit-list.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import type { Route } from '../server/route.ts';
import { cursorIn, pageOf, selectionOf } from './deposit-query.ts';

const PAGE_SIZE = 50;

/** Returns the routes of the list of deposits. */
export function depositRoutes({ depositsOf }: ConsoleParts): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/console/api/deposits',
      permission: 'deposits:read',
      answer: ({ ctx, query, viewer }) => {
        const { q, origin, reason, swhid, since, until, ...owner } = filterIn(query);
        const isCounted = [q, origin, reason, swhid, since, until].every((value) => value === undefined);
        const { client, collection } = owner;
        const counted = {
          ...(client !== undefined && { client }),
          ...(collection !== undefined && { collection }),
        };
        const deposits = depositsOf(viewer);
        ctx.body = {
          ...pageOf(deposits, selectionOf(filterIn(query)), cursorIn(query.get('before')), PAGE_SIZE),
          counts: isCounted ? Object.fromEntries(deposits.counts(counted)) : null,
        } satisfies DepositPage;
      },
    },
  ];
}
