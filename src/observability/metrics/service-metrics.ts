import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import type { ArchiveWorkers } from '../../archives/workers/archive-workers.ts';
import type { Config } from '../../config/config.ts';
import type { NotificationViews } from '../../deposits/notification-views.ts';
import type { ConsumerGroups } from '../../event-log/consumer-groups/consumer-group.ts';
import type { EventLog } from '../../event-log/event-log.ts';
import type { Credentials } from '../../http/middleware/credentials.ts';
import { problemsOf, type ReadinessChecks } from '../../http/middleware/health.ts';
import type { HttpObserver } from '../../http/middleware/http-observer.ts';
import type { Server } from '../../http/server/server.ts';
import type { NotificationStatus } from '../../modules/webhooks/notification-service.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import type { ReactorRunner } from '../../reactors/reactor-runner.ts';
import type { Sweep } from '../../reactors/sweep/sweep.ts';
import type { Logger } from '../../tools/logger.ts';
import type { Projector } from '../../views/projector.ts';
import type { View } from '../../views/view.ts';
import { type ObservedAnchoring, observeAnchoring } from './anchor-metrics.ts';
import { observeDeposits } from './deposit-metrics.ts';
import { HttpMetrics } from './http-metrics.ts';
import { MeasuredEventLog } from './measured-event-log.ts';
import { MeasuredObjectStore } from './measured-object-store.ts';
import { MetricsRegistry } from './metrics-registry.ts';
import { observeNode } from './node-metrics.ts';
import { observeNotifications, observeParked } from './notification-metrics.ts';
import { OutcomeMetrics } from './outcome-metrics.ts';
import { observeArchiveWorkers, observeCredentials } from './queue-metrics.ts';
import { observeLags, observeReactors } from './reactor-metrics.ts';
import { observeSweep } from './sweep-metrics.ts';
import { observeViews } from './view-metrics.ts';

/** The parts of a service that its metrics observe. */
export type ObservedService = {
  readonly config: Config;
  readonly version: string;
  readonly server: Pick<Server, 'connections'>;
  readonly readiness: ReadinessChecks;
  readonly log: EventLog;
  /** `undefined` if this service anchors nothing. */
  readonly anchoring: ObservedAnchoring | undefined;
  readonly notified: Pick<NotificationViews, 'statuses'>;
  /** The parts of a node that serves clients. */
  readonly clients: ObservedClients | undefined;
  /** The parts of a node that checks and loads. */
  readonly reactors: ObservedReactors | undefined;
};

type ObservedClients = {
  readonly projector: Projector;
  readonly statuses: View<DepositStatusView>;
  readonly options: { readonly credentials: Credentials; readonly ready: () => boolean };
};

type ObservedReactors = {
  readonly runners: readonly ReactorRunner[];
  readonly deliveries: ConsumerGroups;
  readonly workers: ArchiveWorkers;
  readonly sweep: Sweep;
  /** `undefined` if this service notifies no clients. */
  readonly notifications: { readonly status: NotificationStatus; readonly runner: ReactorRunner } | undefined;
};

/** The metrics of one service, rendered in the text format of Prometheus. */
export class ServiceMetrics {
  readonly #metrics: MetricsRegistry;
  readonly http: HttpObserver;

  constructor(logger: Logger) {
    this.#metrics = new MetricsRegistry(logger);
    this.http = new HttpMetrics(this.#metrics.instruments);
  }

  /** Returns the log with its appends measured. */
  measuredLog(log: EventLog): EventLog {
    const { instruments } = this.#metrics;
    const outcomes = new OutcomeMetrics(instruments);
    return new MeasuredEventLog(log, instruments, (events) => outcomes.count(events));
  }

  /** Returns the store with its operations measured. */
  measuredStore(store: ObjectStore): ObjectStore {
    return new MeasuredObjectStore(store, this.#metrics.instruments);
  }

  observe(service: ObservedService): void {
    const { config, version, server, readiness, log, anchoring, notified, clients, reactors } = service;
    const metrics = this.#metrics;
    const { stuckAfter } = config;
    observeSweep(metrics, { ...notified, stuckAfter, sweep: reactors?.sweep });
    if (anchoring) observeAnchoring(metrics, anchoring);
    observeNode(metrics, {
      config,
      version,
      checks: Object.keys(readiness),
      problems: () => problemsOf(readiness),
      connections: () => server.connections(),
    });
    if (clients) {
      observeViews(metrics, { log, projector: clients.projector, ready: clients.options.ready });
      observeDeposits(metrics, clients.statuses);
      observeCredentials(metrics, clients.options.credentials);
    }
    if (reactors) {
      const { deliveries, notifications } = reactors;
      const runners = notifications ? [...reactors.runners, notifications.runner] : reactors.runners;
      observeReactors(metrics, reactors.runners);
      observeLags(metrics, deliveries, runners);
      if (notifications) observeNotifications(metrics, notifications);
      observeParked(
        metrics,
        log,
        runners.map(({ name }) => name),
      );
      observeArchiveWorkers(metrics, reactors.workers);
    }
  }

  exposition(): Promise<{ readonly type: string; readonly text: string }> {
    return this.#metrics.exposition();
  }
}
