import type { Config } from '../config/config.ts';
import { type NotificationViews, notificationViews } from '../deposits/notification-views.ts';
import type { ConsumerGroups } from '../event-log/consumer-groups/consumer-group.ts';
import type { EventLog } from '../event-log/event-log.ts';
import { LoggedEventLog } from '../event-log/logged-event-log.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { ServiceMetrics } from '../observability/metrics/service-metrics.ts';
import { type TracedParts, tracedParts } from '../observability/tracing/traced-parts.ts';
import type { Logger } from '../tools/logger.ts';
import { Projector } from '../views/projector.ts';
import { SqliteViewStore } from '../views/store/sqlite-view-store.ts';
import { openBoundStore } from './backends/bound-store.ts';
import { openDeliveriesOf, openLog } from './backends/open-backends.ts';
import { viewDirectory } from './backends/view-directory.ts';
import { LeftoverSweep } from './leftover-sweep.ts';
import { warnOfLogServer } from './log-server-warning.ts';

/** The resources that the parts of a running node share. */
export type NodeResources = {
  readonly config: Config;
  readonly log: EventLog;
  readonly store: ObjectStore;
  readonly deliveries: ConsumerGroups;
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
): Promise<NodeResources> {
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
  const views = resources.use(SqliteViewStore.open(...viewDirectory(config)));
  const projector = new Projector(log, views);
  resources.defer(() => projector.stop());
  const notified = notificationViews(projector);
  return { config, log, store, deliveries, metrics, traced, logger, resources, projector, notified, fail };
}
