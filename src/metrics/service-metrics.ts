import type { DepositStatusView } from '../../projections/deposit-status.ts';
import type { ArchiveStore } from '../archive-store/archive-store.ts';
import type { ArchiveWorkers } from '../archives/threads/archive-workers.ts';
import type { Config } from '../config.ts';
import type { Deliveries } from '../event-log/deliveries.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { Server } from '../http/connections/server.ts';
import type { Credentials } from '../http/credentials.ts';
import { problemsOf, type ReadinessChecks } from '../http/health.ts';
import type { HttpObserver } from '../http/http-observer.ts';
import type { Logger } from '../logger.ts';
import type { NotificationViews } from '../notifications/notification-views.ts';
import type { NotificationStanding } from '../notifications/notifications.ts';
import type { ReactorRunner } from '../reactors/reactor-runner.ts';
import type { Projector, View } from '../read-models/projector.ts';
import type { Sweep } from '../sweep/sweep.ts';
import { type ObservedAnchoring, observeAnchoring } from './anchor-metrics.ts';
import { observeDeposits } from './deposit-metrics.ts';
import { HttpMetrics } from './http-metrics.ts';
import { MeasuredArchiveStore } from './measured-archive-store.ts';
import { MeasuredEventLog } from './measured-event-log.ts';
import { observeNode } from './node-metrics.ts';
import { observeNotifications, observeParked } from './notification-metrics.ts';
import { OutcomeMetrics } from './outcome-metrics.ts';
import { observeArchiveWorkers, observeCredentials } from './queue-metrics.ts';
import { observeLags, observeReactors } from './reactor-metrics.ts';
import { ScrapedMetrics } from './scraped-metrics.ts';
import { observeSweep } from './sweep-metrics.ts';
import { observeViews } from './view-metrics.ts';

/** The parts of a service that are looked at when its metrics are asked for. */
export type ObservedService = {
  readonly config: Config;
  readonly version: string;
  readonly server: Pick<Server, 'connections'>;
  readonly readiness: ReadinessChecks;
  readonly log: EventLog;
  readonly anchoring: ObservedAnchoring;
  readonly notified: Pick<NotificationViews, 'statuses'>;
  /** What a node has that serves clients. */
  readonly clients: ObservedClients | undefined;
  /** What a node has that checks and loads. */
  readonly reactors: ObservedReactors | undefined;
};

type ObservedClients = {
  readonly projector: Projector;
  readonly statuses: View<DepositStatusView>;
  readonly options: { readonly credentials: Credentials; readonly ready: () => boolean };
};

type ObservedReactors = {
  readonly runners: readonly ReactorRunner[];
  readonly deliveries: Deliveries;
  readonly workers: ArchiveWorkers;
  readonly sweep: Sweep;
  readonly notifications: {
    readonly standing: NotificationStanding;
    readonly runner: ReactorRunner;
  };
};

/** The metrics of one service, told in the text format of Prometheus. */
export class ServiceMetrics {
  readonly #metrics: ScrapedMetrics;
  readonly http: HttpObserver;

  constructor(logger: Logger) {
    this.#metrics = new ScrapedMetrics(logger);
    this.http = new HttpMetrics(this.#metrics.instruments);
  }

  /** The same log, with its appends measured. */
  measuredLog(log: EventLog): EventLog {
    const { instruments } = this.#metrics;
    const outcomes = new OutcomeMetrics(instruments);
    return new MeasuredEventLog(log, instruments, (events) => outcomes.count(events));
  }

  /** The same store, with its work measured. */
  measuredStore(store: ArchiveStore): ArchiveStore {
    return new MeasuredArchiveStore(store, this.#metrics.instruments);
  }

  observe(service: ObservedService): void {
    const { config, version, server, readiness, log, anchoring, notified, clients, reactors } = service;
    const metrics = this.#metrics;
    const { stuckAfter } = config;
    observeSweep(metrics, { ...notified, stuckAfter, sweep: reactors?.sweep });
    observeAnchoring(metrics, anchoring);
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
      const { runners, deliveries, notifications } = reactors;
      observeReactors(metrics, runners);
      observeLags(metrics, deliveries, [...runners, notifications.runner]);
      observeNotifications(metrics, notifications);
      observeParked(
        metrics,
        log,
        [...runners, notifications.runner].map(({ name }) => name),
      );
      observeArchiveWorkers(metrics, reactors.workers);
    }
  }

  exposition(): Promise<{ readonly type: string; readonly text: string }> {
    return this.#metrics.exposition();
  }
}
