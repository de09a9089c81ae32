import { filterIn } from '../protocol/deposit-list.ts';
import type { Act } from '../protocol/job.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { ConsoleRefusal, notFoundHere, type Route } from '../server/route.ts';
import { allIds, selectionOf } from './deposit-query.ts';
import { Jobs } from './jobs.ts';

/** Maximum number of deposits of one job. */
const MAX_DEPOSITS = 10_000;

/** Returns the routes by which operators retry deposits: one, the selected ones, or all that a filter selects. */
export function depositActRoutes({ depositsOf, log, resources }: ConsoleParts): readonly Route[] {
  const jobs = resources.use(new Jobs(log));
  return [
    {
      method: 'GET',
      path: '/console/api/deposits/count',
      permission: 'deposits:act',
      answer: ({ ctx, query, viewer }) => {
        const selection = selectionOf(filterIn(query));
        const count = depositsOf(viewer).count({ ...selection, limit: MAX_DEPOSITS + 1 });
        if (count > MAX_DEPOSITS) throw tooMany();
        ctx.body = { count };
      },
    },
    {
      method: 'POST',
      path: '/console/api/jobs',
      permission: 'deposits:act',
      answer: ({ ctx, body, viewer }) => {
        const { act, ids, filter, count } = body as Readonly<Record<string, unknown>>;
        if (act !== 'retry' && act !== 'recheck') throw badRequest('act must be retry or recheck.');
        const wanted = ids === undefined ? matching(filter, count) : idsIn(ids);
        ctx.status = 202;
        ctx.body = jobs.start(act satisfies Act, wanted, viewer);

        function matching(given: unknown, expected: unknown): readonly number[] {
          const selection = selectionOf(filterIn(new URLSearchParams(textsIn(given))));
          const deposits = depositsOf(viewer);
          const found = deposits.count({ ...selection, limit: MAX_DEPOSITS + 1 });
          if (found > MAX_DEPOSITS) throw tooMany();
          if (found !== expected) {
            const text = `${found} deposits match now, not ${String(expected)}: look at them again.`;
            throw new ConsoleRefusal(409, 'COUNT_CHANGED', text);
          }
          return allIds(deposits, selection);
        }
      },
    },
    {
      method: 'GET',
      path: '/console/api/jobs',
      permission: 'service:read',
      answer: ({ ctx }) => {
        ctx.body = { jobs: jobs.list() };
      },
    },
    {
      method: 'GET',
      path: '/console/api/jobs/:id',
      permission: 'service:read',
      answer: ({ ctx, params: { id = '' } }) => {
        ctx.body = jobs.get(id) ?? unknownJob();
      },
    },
    {
      method: 'POST',
      path: '/console/api/jobs/:id/stop',
      permission: 'deposits:act',
      answer: ({ ctx, params: { id = '' } }) => {
        ctx.body = jobs.stop(id) ?? unknownJob();
      },
    },
  ];
}

function idsIn(ids: unknown): readonly number[] {
  const isValid =
    Array.isArray(ids) && ids.length <= MAX_DEPOSITS && ids.every((id) => Number.isSafeInteger(id) && id > 0);
  if (!isValid || ids.length === 0) throw badRequest('ids must be numbers of deposits.');
  return [...new Set(ids as readonly number[])];
}

function textsIn(filter: unknown): Record<string, string> {
  const entries = Object.entries(Object(filter) as Record<string, unknown>);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function tooMany(): ConsoleRefusal {
  const text = `More than ${MAX_DEPOSITS} deposits match: add a filter.`;
  return new ConsoleRefusal(409, 'TOO_MANY_DEPOSITS', text);
}

function badRequest(text: string): ConsoleRefusal {
  return new ConsoleRefusal(400, 'BAD_REQUEST', text);
}

function unknownJob(): never {
  throw notFoundHere('There is no such job on this node: jobs are remembered until it restarts.');
}
