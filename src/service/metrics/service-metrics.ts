import type { ReadinessChecks } from '../../http/middleware/health.ts';
import type { Server } from '../../http/server/server.ts';
import type { NodeResources } from '../open-node.ts';
import { type ObservedClients, observeClients } from './client-metrics.ts';
import {
  type ObservedAnchoring,
  type ObservedSnapshots,
  observeAnchoring,
  observeNode,
  observeSnapshots,
} from './node-metrics.ts';
import { type ObservedReactors, observeReactors, observeStuck } from './reactor-metrics.ts';
import { observeViews } from './view-metrics.ts';

/** The parts of a service that depend on its roles and settings. */
type ObservedParts = {
  readonly server: Pick<Server, 'connections' | 'certificateExpiry'>;
  readonly readiness: ReadinessChecks;
  /** `undefined` if this service anchors nothing. */
  readonly anchoring: ObservedAnchoring | undefined;
  /** `undefined` if this service stores no snapshots of its views. */
  readonly snapshots: ObservedSnapshots | undefined;
  readonly clients: ObservedClients | undefined;
  readonly reactors: ObservedReactors | undefined;
};

/** Registers the metrics that are collected at each scrape, according to the roles of the node. */
export function observeService(
  { config, log, parking, metrics, projector, notified }: NodeResources,
  { server, readiness, anchoring, snapshots, clients, reactors }: ObservedParts,
): void {
  observeStuck(metrics, notified.statuses, config.stuckAfter);
  if (anchoring) observeAnchoring(metrics, anchoring);
  observeSnapshots(metrics, projector, snapshots);
  observeNode(metrics, config, { readiness, server });
  observeViews(metrics, log, projector);
  if (clients) observeClients(metrics, clients);
  if (reactors) observeReactors(metrics, parking, reactors);
}
