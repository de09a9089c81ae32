import type { EventLog } from '../../event-log/event-log.ts';
import type { ReadinessChecks } from '../../http/middleware/health.ts';
import type { Server } from '../../http/server/server.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { NotificationViews } from '../../reactors/sweep/notification-views.ts';
import type { Projector } from '../../views/projector.ts';
import { type ObservedClients, observeClients } from './client-metrics.ts';
import {
  type ObservedAnchoring,
  type ObservedConfig,
  type ObservedSnapshots,
  observeAnchoring,
  observeNode,
  observeSnapshots,
} from './node-metrics.ts';
import { type ObservedReactors, observeReactors, observeStuck } from './reactor-metrics.ts';

/** The parts of a service that its metrics observe. */
export type ObservedService = {
  readonly config: ObservedConfig & { readonly stuckAfter: number };
  readonly version: string;
  readonly server: Pick<Server, 'connections'>;
  readonly readiness: ReadinessChecks;
  readonly log: EventLog;
  /** `undefined` if this service anchors nothing. */
  readonly anchoring: ObservedAnchoring | undefined;
  /** `undefined` if this service stores no snapshots of its views. */
  readonly snapshots: ObservedSnapshots | undefined;
  readonly projector: Pick<Projector, 'begunFrom'>;
  readonly notified: Pick<NotificationViews, 'statuses'>;
  readonly clients: ObservedClients | undefined;
  readonly reactors: ObservedReactors | undefined;
};

/** Registers the metrics that are collected at each scrape, according to the roles of the node. */
export function observeService(metrics: Metrics, service: ObservedService): void {
  const { config, log, anchoring, snapshots, projector, notified, clients, reactors } = service;
  observeStuck(metrics, notified.statuses, config.stuckAfter);
  if (anchoring) observeAnchoring(metrics, anchoring);
  observeSnapshots(metrics, projector, snapshots);
  observeNode(metrics, service);
  if (clients) observeClients(metrics, log, clients);
  if (reactors) observeReactors(metrics, log, reactors);
}
