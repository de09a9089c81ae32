import path from 'node:path';
import type { Config } from '../../config/config.ts';
import { files } from '../../tools/files.ts';
import type { MetricsRegistry } from './metrics-registry.ts';

export type ObservedNode = {
  readonly config: Pick<Config, 'roles' | 'dataDir' | 'eventLog' | 'archiveStore'>;
  readonly version: string;
  /** Reasons why the node cannot work, by the name of the check. */
  readonly problems: () => Promise<ReadonlyMap<string, string>>;
  /** The names of all checks. */
  readonly checks: readonly string[];
  /** Resolves to the number of open connections of clients. */
  readonly connections: () => Promise<number>;
};

/** Observes the configuration of the node, its readiness and its free disk space. */
export function observeNode(metrics: MetricsRegistry, node: ObservedNode): void {
  const { instruments: make } = metrics;
  const { config, version, problems, checks } = node;
  const about = {
    version,
    node: process.version,
    roles: config.roles.join(),
    event_log: config.eventLog.kind,
    archive_store: config.archiveStore.kind,
  };
  make.gauge('build_info', 'What runs here; always 1', Object.keys(about)).set(about, 1);

  const connections = make.gauge('http_connections', 'Connections of clients that are open');
  metrics.onScrape('connections', async () => connections.set(await node.connections()));

  const ready = make.gauge('ready', '1 when the node can do its work, as /health/ready says it');
  const passed = make.gauge('readiness_check', '1 when this part of what makes the node ready is well', [
    'check',
  ]);
  metrics.onScrape('readiness', async () => {
    const found = await problems();
    ready.set(found.size === 0 ? 1 : 0);
    for (const check of checks) passed.set({ check }, found.has(check) ? 0 : 1);
  });

  const free = make.gauge('disk_free_bytes', 'Free space where this is kept', ['kept']);
  const size = make.gauge('disk_size_bytes', 'Size of the disk where this is kept', ['kept']);
  for (const [kept, folder] of Object.entries(foldersOf(config))) {
    metrics.onScrape(`disk_${kept}`, async () => {
      const { bavail, blocks, bsize } = await files.statfs(folder);
      free.set({ kept }, bavail * bsize);
      size.set({ kept }, blocks * bsize);
    });
  }
}

function foldersOf({ dataDir, eventLog, archiveStore }: ObservedNode['config']): Record<string, string> {
  return {
    data: dataDir,
    ...(eventLog.kind === 'sqlite' && { event_log: path.dirname(eventLog.file) }),
    ...(archiveStore.kind === 'file' && { archives: archiveStore.folder }),
  };
}
