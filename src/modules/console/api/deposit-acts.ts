import type { Viewer } from '../access/sessions.ts';
import { idsOf } from '../listing/deposit-pages.ts';
import { selectionOf } from '../listing/deposit-query.ts';
import { filterIn } from '../protocol/deposit-list.ts';
import type { JobView } from '../protocol/job.ts';
import { permits } from '../protocol/permissions.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { ConsoleRefusal, notFoundHere, type Route, type ViewerRequest } from '../server/route.ts';
import { Jobs } from './jobs.ts';

/** Maximum number of deposits of one job. */
const MAX_DEPOSITS = 10_000;

const JOBS = '/console/api/jobs';

/** Returns the routes by which operators retry deposits: one, the selected ones, or all that a filter selects. */
export function depositActRoutes({ depositsOf, log, people, resources }: ConsoleParts): readonly Route[] {
  const mayAct = (name: string): boolean => {
    const person = people.get(name);
    return person?.disabled === false && permits(person.role, 'deposits:act');
  };
  const jobs = resources.use(new Jobs(log, mayAct));
  return [
    { method: 'GET', path: '/console/api/deposits/count', permission: 'deposits:act', answer: count },
    { method: 'POST', path: JOBS, permission: 'deposits:act', answer: start },
    { method: 'GET', path: JOBS, permission: 'service:read', answer: () => ({ jobs: jobs.list() }) },
    {
      method: 'GET',
      path: `${JOBS}/:id`,
      permission: 'service:read',
      answer: ({ params: { id = '' } }) => jobs.get(id) ?? unknownJob(),
    },
    {
      method: 'POST',
      path: `${JOBS}/:id/stop`,
      permission: 'deposits:act',
      answer: ({ params: { id = '' } }) => jobs.stop(id) ?? unknownJob(),
    },
  ];

  async function count({ query, viewer }: ViewerRequest) {
    const { length } = await matching(query, viewer);
    return { count: length };
  }

  async function start({ ctx, body, viewer }: ViewerRequest): Promise<JobView> {
    const { act, ids, filter, count: expected } = body as Readonly<Record<string, unknown>>;
    if (act !== 'retry' && act !== 'recheck') throw badRequest('act must be retry or recheck.');
    const wanted = ids === undefined ? await counted(filter, expected, viewer) : idsIn(ids);
    ctx.status = 202;
    return jobs.start(act, wanted, viewer);
  }

  /** Resolves to the ids of all deposits of a filter, if they are as many as expected. @throws {ConsoleRefusal} */
  async function counted(filter: unknown, expected: unknown, viewer: Viewer): Promise<readonly number[]> {
    const found = await matching(new URLSearchParams(textsIn(filter)), viewer);
    if (found.length === expected) return found;
    const text = `${found.length} deposits match now, not ${String(expected)}: review the list.`;
    throw new ConsoleRefusal(409, 'COUNT_CHANGED', text);
  }

  /** Resolves to the ids of all deposits of a filter. @throws {ConsoleRefusal} too many for a job */
  async function matching(query: URLSearchParams, viewer: Viewer): Promise<readonly number[]> {
    const ids = await idsOf(await depositsOf(viewer).settled(), selectionOf(filterIn(query)), MAX_DEPOSITS);
    if (ids.length <= MAX_DEPOSITS) return ids;
    const text = `More than ${MAX_DEPOSITS} deposits match: add a filter.`;
    throw new ConsoleRefusal(409, 'TOO_MANY_DEPOSITS', text);
  }
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

function badRequest(text: string): ConsoleRefusal {
  return new ConsoleRefusal(400, 'BAD_REQUEST', text);
}

function unknownJob(): never {
  throw notFoundHere('This node has no such job: jobs are remembered until it restarts.');
}
