import type { ArchiveWorkers } from '../../archives/workers/archive-workers.ts';
import type { Credentials } from '../../http/middleware/credentials.ts';
import type { MetricsRegistry } from './metrics-registry.ts';

/** Observes the queue of the threads that read archives. */
export function observeArchiveWorkers(metrics: MetricsRegistry, workers: Pick<ArchiveWorkers, 'load'>): void {
  const { instruments: make } = metrics;
  const size = make.gauge('archive_workers', 'Threads that may read archives');
  const busy = make.gauge('archive_workers_busy', 'Threads that read an archive');
  const waiting = make.gauge('archive_jobs_waiting', 'Archives and listings that wait for a thread');
  metrics.onScrape('archive_workers', () => {
    const { load } = workers;
    size.set(load.size);
    busy.set(load.busy);
    waiting.set(load.waiting);
  });
}

/** Observes the queue of password verifications. */
export function observeCredentials(
  metrics: MetricsRegistry,
  credentials: Pick<Credentials, 'waiting'>,
): void {
  const waiting = metrics.instruments.gauge(
    'password_checks_waiting',
    'Passwords that wait to be verified; more than 32 are refused',
  );
  metrics.onScrape('password_checks', () => waiting.set(credentials.waiting));
}
