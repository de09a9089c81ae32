import type { Config } from '../config/config.ts';
import { KeptStates } from '../deposits/kept-states.ts';
import type { Deposit } from '../domain/deposit/state.ts';
import { Metrics } from '../observability/metrics.ts';
import { logMetrics, storeObserver } from '../observability/port-metrics.ts';
import { logObserver, observedReader } from '../observability/port-observers.ts';
import { EventLogParking } from '../reactors/parking.ts';
import { notificationViews } from '../reactors/sweep/notification-views.ts';
import type { Logger } from '../tools/logger.ts';
import { observed } from '../tools/observed.ts';
import { Projector } from '../views/projector.ts';
import { removeCopies } from '../views/snapshots/packed-copy.ts';
import { SnapshotMaker } from '../views/snapshots/snapshot-maker.ts';
import { useSnapshot } from '../views/snapshots/snapshot-use.ts';
import { SqliteViewStore } from '../views/store/sqlite-view-store.ts';
import { openBoundStore } from './backends/bound-store.ts';
import { openDeliveries, openLog } from './backends/open-log.ts';
import { viewDirectory } from './backends/view-directory.ts';
import { sweepLeftovers } from './leftover-sweep.ts';
import { warnOfLogServer } from './log-server-warning.ts';

/** The resources that the parts of a running node share. */
export type NodeResources = Readonly<Awaited<ReturnType<typeof openNode>>>;

/** Small objects of a remote store that a node with reactors holds in memory until it checks and loads them. */
const RECENT_BYTES = 4 * 1024 ** 2;

/**
 * Opens the engines, of a data folder whose lock is held; `resources` closes them.
 * @param receivers consumer groups that the node receives if it has reactors
 * @param fail ends the service, which cannot go on
 */
export async function openNode(
  config: Config,
  receivers: readonly string[],
  logger: Logger,
  resources: AsyncDisposableStack,
  fail: (error: unknown) => void,
) {
  const metrics = new Metrics(logger);
  const engine = observed(await openLog(config), logMetrics(metrics));
  const log = resources.use(observed(engine, logObserver(logger)));
  const opened = await openBoundStore(config, engine, {
    ...(config.roles.includes('reactors') && { recentBytes: RECENT_BYTES }),
    onLost: (reason) => logger.error({ reason }, 'the archive store lost objects'),
  });
  const store = resources.use(observed(opened, storeObserver(metrics)));
  resources.use(await sweepLeftovers({ config, store: opened, logger }));
  resources.use(warnOfLogServer(config, logger));
  const deliveries = await openDeliveries(config, log, { receivers, logger });
  resources.defer(() => deliveries[Symbol.asyncDispose]?.());
  const [folder, origin] = viewDirectory(config);
  const views = resources.use(new SqliteViewStore(folder, origin));
  removeCopies(folder);
  // Not the observed store: a log that was restored names snapshots that no backup has.
  const snapshots = { log, store: opened, origin, logger };
  const projector = new Projector(log, views, async (projections, signal) => {
    return config.viewSnapshotSize > 0 && (await useSnapshot(snapshots, views, projections, signal));
  });
  resources.defer(() => projector.stop());
  const notified = notificationViews(projector);
  return {
    config,
    log,
    store,
    deliveries,
    metrics,
    observedReader,
    logger,
    resources,
    projector,
    views,
    kept: new KeptStates<Deposit>(),
    notified,
    parking: new EventLogParking(log),
    fail,
  };
}

/** Stores snapshots of the views once these are ready, on a node that has all views: one that serves clients. */
export function startSnapshots(
  { config, log, store, views, logger }: NodeResources,
  ready: Promise<void>,
): SnapshotMaker | undefined {
  const [, origin] = viewDirectory(config);
  const fromSize = config.viewSnapshotSize;
  return fromSize > 0 ? new SnapshotMaker({ log, store, views, origin, fromSize, logger }, ready) : undefined;
}
