import { contentRoutes } from '../api/contents.ts';
import { summaryRoutes } from '../api/deposit-summary.ts';
import { depositRoutes } from '../api/deposits.ts';
import { liveRoutes } from '../api/live.ts';
import { overviewRoutes } from '../api/overview.ts';
import { proofRoutes } from '../api/proofs.ts';
import { signInRoutes } from '../api/sign-in.ts';
import { streamRoutes } from '../api/streams.ts';
import type { ConsoleParts } from './console.ts';
import { pageRoutes } from './page-routes.ts';
import type { Route } from './route.ts';

/** Returns all routes of the console. */
export function openRoutes(parts: ConsoleParts): readonly Route[] {
  return [
    ...pageRoutes(parts),
    ...signInRoutes(parts),
    ...liveRoutes(parts),
    ...overviewRoutes(parts),
    ...depositRoutes(parts),
    ...summaryRoutes(parts),
    ...streamRoutes(parts),
    ...contentRoutes(parts),
    ...proofRoutes(parts),
  ];
}
