import type { ArchiveStore } from '../archive-store/archive-store.ts';
import { openBoundStore } from '../bound-store.ts';
import type { Config } from '../config.ts';
import { openDeliveriesOf, openLog } from '../engines.ts';
import type { Deliveries } from '../event-log/deliveries.ts';
import type { EventLog } from '../event-log/event-log.ts';
import { LoggedEventLog } from '../event-log/logged-event-log.ts';
import type { Logger } from '../logger.ts';
import { ServiceMetrics } from '../metrics/service-metrics.ts';
import { type NotificationViews, notificationViews } from '../notifications/notification-views.ts';
import { Projector } from '../read-models/projector.ts';
import { SqliteViewStore } from '../read-models/sqlite-view-store.ts';
import { type TracedParts, tracedParts } from '../tracing/traced-parts.ts';
import { viewsPlace } from '../views-place.ts';
import { LeftoverSweep } from './leftover-sweep.ts';
import { warnOfLogServer } from './log-server-warning.ts';

/** What every part of a running node is put together with. */
export type Node = {
  readonly config: Config;
  readonly log: EventLog;
  readonly store: ArchiveStore;
  readonly deliveries: Deliveries;
  readonly metrics: ServiceMetrics;
  readonly traced: TracedParts;
  readonly logger: Logger;
  readonly resources: AsyncDisposableStack;
  readonly projector: Projector;
  readonly notified: NotificationViews;
  /** Ends the service: it cannot go on. */
  readonly fail: (error: unknown) => void;
};

/** Opens the engines, of a data folder whose lock is held; `resources` closes them. */
export async function openNode(
  config: Config,
  logger: Logger,
  resources: AsyncDisposableStack,
  fail: (error: unknown) => void,
): Promise<Node> {
  const metrics = new ServiceMetrics(logger);
  const traced = tracedParts(config.tracing);
  const engine = metrics.measuredLog(await openLog(config));
  const log = resources.use(traced.log(new LoggedEventLog(engine, logger)));
  const opened = await openBoundStore(config, engine, {
    onLost: (reason) => logger.error({ reason }, 'the archive store lost objects'),
  });
  const store = resources.use(traced.store(metrics.measuredStore(opened)));
  resources.use(await LeftoverSweep.start({ config, store: opened, logger }));
  resources.use(warnOfLogServer(config, logger));
  const deliveries = await openDeliveriesOf(config, log, logger);
  resources.defer(() => deliveries[Symbol.asyncDispose]?.());
  const views = resources.use(SqliteViewStore.open(...viewsPlace(config)));
  const projector = new Projector(log, views);
  resources.defer(() => projector.stop());
  const notified = notificationViews(projector);
  return { config, log, store, deliveries, metrics, traced, logger, resources, projector, notified, fail };
}
