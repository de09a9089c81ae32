import { contentRoutes } from '../api/contents.ts';
import { depositActRoutes } from '../api/deposit-acts.ts';
import { depositExportRoutes } from '../api/deposit-export.ts';
import { summaryRoutes } from '../api/deposit-summary.ts';
import { depositRoutes } from '../api/deposits.ts';
import { liveRoutes } from '../api/live.ts';
import { overviewRoutes } from '../api/overview.ts';
import { proofRoutes } from '../api/proofs.ts';
import { searchRoutes } from '../api/search.ts';
import { signInRoutes } from '../api/sign-in.ts';
import { streamRoutes } from '../api/streams.ts';
import { workRoutes } from '../api/work.ts';
import type { ConsoleParts } from './console-parts.ts';
import { pageRoutes } from './page-routes.ts';
import type { Route } from './route.ts';

export function openRoutes(parts: ConsoleParts): readonly Route[] {
  const routes: readonly Route[] = [
    ...pageRoutes(parts),
    ...signInRoutes(parts),
    ...liveRoutes(parts),
    ...overviewRoutes(parts),
    ...depositExportRoutes(parts),
    ...depositActRoutes(parts),
    ...depositRoutes(parts),
    ...summaryRoutes(parts),
    ...streamRoutes(parts),
    ...contentRoutes(parts),
    ...proofRoutes(parts),
    ...workRoutes(parts),
    ...searchRoutes(parts),
  ];
  return [...routes, routeTable(routes)];
}

/** Returns the route by which auditors see what each role may do. */
function routeTable(others: readonly Route[]): Route {
  const path = '/console/api/routes';
  const permission = 'service:read';
  const shown = [...others, { method: 'GET', path, permission } as const].map((route) => ({
    method: route.method,
    path: route.path,
    permission: route.permission,
  }));
  return { method: 'GET', path, permission, answer: () => ({ routes: shown }) };
}
