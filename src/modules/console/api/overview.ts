import { lagAfter } from '../../../event-log/consumer-groups/lag.ts';
import { countStuck } from '../../../reactors/sweep/stuck-deposits.ts';
import { clock } from '../../../tools/clock.ts';
import { rowOf } from '../listing/deposit-query.ts';
import type { OverviewData } from '../protocol/overview.ts';
import { permits } from '../protocol/permissions.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import type { Route, ViewerRequest } from '../server/route.ts';

/** Number of deposits that changed last. */
const RECENT = 15;
/** Lag beyond which the views need attention, as in deploy/prometheus-alerts.yml. */
const MAX_LAG_SECONDS = 30;

/** Days in which a rejected deposit is news: it stays rejected, and its client makes a new one. */
const NEWS_DAYS = 7;

export function overviewRoutes(parts: ConsoleParts): readonly Route[] {
  const { config, depositsOf, log, parking, projector } = parts;
  return [{ method: 'GET', path: '/console/api/overview', permission: 'deposits:read', answer: overview }];

  async function overview({ viewer }: ViewerRequest): Promise<OverviewData> {
    const deposits = await depositsOf(viewer).settled();
    const newest = { orderBy: 'changed', descending: true, limit: RECENT };
    return {
      counts: Object.fromEntries(deposits.counts()),
      recent: deposits.find(newest).map(rowOf),
      service: permits(viewer.role, 'service:read') ? await service() : null,
    };
  }

  async function service(): Promise<OverviewData['service']> {
    const { count = 0, oldest } = await lagAfter(log, projector.position, '');
    const seconds = oldest === undefined ? 0 : Math.round((clock.now() - Date.parse(oldest)) / 1000);
    const until = timeBefore(config.stuckAfter);
    const since = timeBefore(NEWS_DAYS * 86_400_000).slice(0, 'YYYY-MM-DD'.length);
    const statuses = await parts.statuses.settled();
    const from = { field: 'updatedAt', value: since };
    return {
      stuck: { counts: countStuck(statuses, until), until },
      rejected: { count: statuses.count({ equal: { status: 'rejected' }, from }), since },
      parked: await parking.count(),
      views: seconds >= MAX_LAG_SECONDS ? { events: count, seconds } : null,
      problem: projector.lastError ?? null,
    };
  }
}

function timeBefore(ms: number): string {
  return new Date(clock.now() - ms).toISOString();
}
