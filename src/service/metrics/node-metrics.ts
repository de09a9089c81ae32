import path from 'node:path';
import type { Config } from '../../config/config.ts';
import { packageInfo } from '../../config/package-info.ts';
import { problemsOf, type ReadinessChecks } from '../../http/middleware/health.ts';
import type { Server } from '../../http/server/server.ts';
import type { Anchoring } from '../../modules/anchors/anchor-scheduler.ts';
import { ageOf, type Metrics } from '../../observability/metrics.ts';
import { clock } from '../../tools/clock.ts';
import { files } from '../../tools/files.ts';
import type { Projector } from '../../views/projector.ts';
import type { SnapshotMaker } from '../../views/snapshots/snapshot-maker.ts';
import { CHORES, lastSuccess } from '../backends/last-success.ts';

export function observeNode(
  metrics: Metrics,
  config: Config,
  readiness: ReadinessChecks,
  server: Pick<Server, 'connections' | 'certificateExpiry'>,
): void {
  const about = {
    version: packageInfo().version,
    node: process.version,
    roles: config.roles.join(),
    event_log: config.eventLog.kind,
    archive_store: config.archiveStore.kind,
  };
  metrics
    .gauge('build_info', 'Version and configuration of the node; always 1', Object.keys(about))
    .set(about, 1);

  const connections = metrics.gauge('http_connections', 'Connections of clients that are open');
  metrics.onScrape('connections', async () => connections.set(await server.connections()));

  const certificate = metrics.gauge(
    'tls_certificate_remaining_seconds',
    'Time until the certificate expires that clients get; none without DEPOSIT_TLS_CERT',
  );
  certificate.remove(); // it begins with 0, as if it had expired
  const { certificateExpiry: expiry } = server;
  if (expiry) metrics.onScrape('certificate', () => certificate.set((expiry.getTime() - clock.now()) / 1000));

  const ready = metrics.gauge('ready', '1 when the node can do its work, as /health/ready reports');
  const passed = metrics.gauge('readiness_check', '1 when this readiness check passes', ['check']);
  metrics.onScrape('readiness', async () => {
    const found = await problemsOf(readiness);
    ready.set(found.size === 0 ? 1 : 0);
    for (const check of Object.keys(readiness)) passed.set({ check }, found.has(check) ? 0 : 1);
  });

  observeChores(metrics, config.dataDir);
  const free = metrics.gauge('disk_free_bytes', 'Free space of the disk', ['kept']);
  const size = metrics.gauge('disk_size_bytes', 'Size of the disk with these files', ['kept']);
  for (const [kept, folder] of Object.entries(foldersOf(config))) {
    metrics.onScrape(`disk_${kept}`, async () => {
      const { bavail, blocks, bsize } = await files.statfs(folder);
      free.set({ kept }, bavail * bsize);
      size.set({ kept }, blocks * bsize);
    });
  }
}

function observeChores(metrics: Metrics, dataDir: string): void {
  const age = metrics.gauge(
    'last_success_age_seconds',
    'Age of the last complete backup, and of the last verify --all without a finding, of this node; none without one',
    ['of'],
  );
  metrics.onScrape('chores', () => {
    for (const chore of CHORES) {
      const time = lastSuccess(dataDir, chore);
      if (time === null) age.remove({ of: chore });
      else age.set({ of: chore }, ageOf(time));
    }
  });
}

function foldersOf({ dataDir, eventLog, archiveStore }: Config): Record<string, string> {
  return {
    data: dataDir,
    ...(eventLog.kind === 'sqlite' && { event_log: path.dirname(eventLog.file) }),
    ...(archiveStore.kind === 'file' && { archives: archiveStore.folder }),
  };
}

export function observeAnchoring(metrics: Metrics, anchoring: Anchoring): void {
  metrics
    .gauge('anchor_interval_seconds', 'Time from one anchor of this node to the next; 0 when it makes none')
    .set(anchoring.interval);
  const age = metrics.gauge(
    'anchor_age_seconds',
    'Time since this node last found the log anchored to its end, at the most since its start; 0 when it makes none',
  );
  metrics.onScrape('anchors', () => age.set(anchoring.age));
}

export function observeSnapshots(
  metrics: Metrics,
  projector: Pick<Projector, 'begunFrom'>,
  snapshots: Pick<SnapshotMaker, 'newest'> | undefined,
): void {
  const begun = metrics.gauge(
    'views_begun',
    'What the views began with at the start: their files, a snapshot, or all events of the log; 1 for that',
    ['from'],
  );
  const age = metrics.gauge(
    'view_snapshot_age_seconds',
    'Age of the newest snapshot of the views that fits this release; 0 without one',
  );
  metrics.onScrape('view_snapshots', () => {
    const { begunFrom } = projector;
    if (begunFrom !== undefined) begun.set({ from: begunFrom }, 1);
    age.set(snapshots?.newest === undefined ? 0 : ageOf(snapshots.newest));
  });
}
