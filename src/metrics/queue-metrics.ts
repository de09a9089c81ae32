import type { ArchiveWorkers } from '../archives/threads/archive-workers.ts';
import type { Credentials } from '../http/credentials.ts';
import type { ScrapedMetrics } from './scraped-metrics.ts';

/** What waits for the threads that read archives. */
export function observeArchiveWorkers(metrics: ScrapedMetrics, workers: Pick<ArchiveWorkers, 'load'>): void {
  const { instruments: make } = metrics;
  const size = make.gauge('archive_workers', 'Threads that may read archives');
  const busy = make.gauge('archive_workers_busy', 'Threads that read an archive');
  const waiting = make.gauge('archive_jobs_waiting', 'Archives and listings that wait for a thread');
  metrics.atScrape('archive_workers', () => {
    const { load } = workers;
    size.set(load.size);
    busy.set(load.busy);
    waiting.set(load.waiting);
  });
}

/** What waits to be verified. */
export function observeCredentials(metrics: ScrapedMetrics, credentials: Pick<Credentials, 'waiting'>): void {
  const waiting = metrics.instruments.gauge(
    'password_checks_waiting',
    'Passwords that wait to be verified; more than 32 are refused',
  );
  metrics.atScrape('password_checks', () => waiting.set(credentials.waiting));
}
