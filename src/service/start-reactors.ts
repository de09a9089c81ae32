import { ArchiveWorkers } from '../archives/workers/archive-workers.ts';
import { packageInfo } from '../config/package-info.ts';
import type { Deliveries } from '../event-log/consumer-groups/deliveries.ts';
import type { ReadinessChecks } from '../http/middleware/health.ts';
import type { Module } from '../modules/module.ts';
import { MODULES } from '../modules/modules.ts';
import { observedReactor, observedReader } from '../observability/port-observers.ts';
import { checker, loader, REACTOR_SLOTS } from '../reactors/deposit-reactors.ts';
import { ALL_REACTORS, DEPOSIT_REACTORS } from '../reactors/reactor-names.ts';
import { ReactorRunner } from '../reactors/reactor-runner.ts';
import { Sweep } from '../reactors/sweep/sweep.ts';
import { withTimeout } from '../tools/concurrency/with-timeout.ts';
import type { NodeResources } from './open-node.ts';

/** How long reactors may take to stop: each cuts its work off after three seconds, but a silent log may hold it. */
const STOP_TIMEOUT_MS = 5000;

type ReactorNode = Omit<NodeResources, 'metrics' | 'views'>;

/** Returns the names of the reactors that {@link startReactors} starts with these modules. */
export function reactorsWith(modules: readonly Module[]): readonly string[] {
  return modules.some(({ react }) => react) ? ALL_REACTORS : DEPOSIT_REACTORS;
}

/** Starts checker, loader, notifications and the sweep; what is returned shows whether each can do its work. */
export function startReactors(
  node: ReactorNode,
  baseUrl: string,
  viewsReady: Promise<void>,
  modules: readonly Module[] = MODULES,
) {
  const { config, log, store, deliveries, parking, notified, logger, resources } = node;
  const { runners, workers } = startRunners(node);
  const about = { baseUrl, maker: packageInfo(), ready: viewsReady, observed: observedReactor };
  const notifications = modules.find(({ react }) => react)?.react?.(node, about);
  const allRunners = notifications ? [...runners, notifications.runner] : runners;
  const sweep = new Sweep({
    log,
    store,
    parking,
    deliveries,
    views: notified,
    ready: viewsReady,
    logger,
    runners: allRunners,
    stuckAfter: config.stuckAfter,
    giveUpAfter: config.webhooks.giveUpAfter,
  });
  const stopAll = async (): Promise<void> => {
    const stopped = [
      sweep[Symbol.asyncDispose](),
      ...runners.map((runner) => runner.stop()),
      ...(notifications ? [notifications[Symbol.asyncDispose]()] : []),
    ];
    await withTimeout(Promise.all(stopped), STOP_TIMEOUT_MS);
    await workers[Symbol.asyncDispose]();
  };
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopAll());
  resources.defer(stop);
  const readiness: ReadinessChecks = {
    ...Object.fromEntries(runners.map(({ name }) => [name, () => assertReceives(deliveries, name)])),
    ...(notifications && { notifier: () => notifications.assertFollows() }),
  };
  return { runners, allRunners, readiness, deliveries, workers, notifications, sweep, stop };
}

/** Starts the checker and the loader, and the threads in which they read archives. */
function startRunners(node: ReactorNode) {
  const { config, log, kept, store, deliveries, parking, notified, logger, resources, projector, fail } =
    node;
  const { archiveLimits: limits, loaderIdentity: identity, reactionPause: firstPause } = config;
  const workers = resources.use(
    new ArchiveWorkers({
      size: config.archiveWorkers,
      mergeTime: limits.wallTime,
      onAborted: (err, archives) => logger.warn({ archives, err }, 'check of an archive aborted'),
    }),
  );
  const parts = { log, kept, store, reader: observedReader(workers), identity };
  const reactors = [checker({ ...parts, limits, logins: notified.logins, views: projector }), loader(parts)];
  const options = { deliveries, parking, logger, slots: REACTOR_SLOTS, firstPause };
  const runners = reactors.map((reactor) => new ReactorRunner(observedReactor(reactor), options));
  for (const runner of runners) runner.start(fail);
  return { runners, workers };
}

/** Rejects with the reason why a receiver gets no events at the moment. */
async function assertReceives(deliveries: Deliveries, receiver: string): Promise<void> {
  const lastError = deliveries.lastError(receiver);
  if (lastError !== undefined) throw new Error(lastError);
}
