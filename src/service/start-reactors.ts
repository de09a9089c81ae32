import { ArchiveWorkers } from '../archives/threads/archive-workers.ts';
import type { ReadinessChecks } from '../http/health.ts';
import { inTime } from '../in-time.ts';
import { manifest } from '../manifest.ts';
import { Notifications } from '../notifications/notifications.ts';
import { Checker } from '../reactors/checker.ts';
import { Loader } from '../reactors/loader.ts';
import { LogParking } from '../reactors/parking.ts';
import { ReactorRunner } from '../reactors/reactor-runner.ts';
import { Sweep } from '../sweep/sweep.ts';
import type { Node } from './node.ts';

/** Streams that a reactor works on at the same time; archives are read by fewer workers still. */
const REACTOR_CONCURRENCY = 8;

/** For reactors to stop, in milliseconds: each cuts its work off after three seconds, but a silent log may hold it. */
const STOP_PATIENCE = 5000;

/** Starts checker, loader, notifications and the sweep; what is returned shows whether each can do its work. */
export function startReactors(node: Node, baseUrl: string, viewsReady: Promise<void>) {
  const { config, log, store, deliveries, notified, traced, logger, resources, fail } = node;
  const workers = resources.use(
    new ArchiveWorkers({
      size: config.archiveWorkers,
      overlayTime: config.archiveLimits.wallTime,
      onAborted: (err, archives) => logger.warn({ archives, err }, 'check of an archive aborted'),
    }),
  );
  const reader = traced.reader(workers);
  const parking = new LogParking(log);
  const { reactionPause: firstPause } = config;
  const options = { deliveries, parking, logger, concurrency: REACTOR_CONCURRENCY, firstPause };
  const reactors = [
    new Checker(log, store, reader, config.archiveLimits),
    new Loader(log, store, reader, config.loaderIdentity),
  ];
  const runners = reactors.map((reactor) => new ReactorRunner(traced.reactor(reactor), options));
  for (const runner of runners) runner.start(fail);
  const check = (name: string) => async (): Promise<void> => {
    const trouble = deliveries.trouble(name);
    if (trouble !== undefined) throw new Error(trouble);
  };
  const notifications = new Notifications({ ...node, baseUrl, maker: manifest(), ready: viewsReady });
  const sweep = new Sweep({
    log,
    store,
    parking,
    deliveries,
    views: notified,
    ready: viewsReady,
    logger,
    runners: [...runners, notifications.runner],
    stuckAfter: config.stuckAfter,
    giveUpAfter: config.webhooks.giveUpAfter,
  });
  const stopAll = async (): Promise<void> => {
    const stopped = [
      sweep[Symbol.asyncDispose](),
      ...runners.map((runner) => runner.stop()),
      notifications[Symbol.asyncDispose](),
    ];
    await inTime(Promise.all(stopped), STOP_PATIENCE);
    await workers[Symbol.asyncDispose]();
  };
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= stopAll();
    return stopping;
  };
  resources.defer(stop);
  const readiness: ReadinessChecks = {
    ...Object.fromEntries(reactors.map(({ name }) => [name, check(name)])),
    notifier: () => notifications.assertFollows(),
  };
  return { runners, readiness, deliveries, workers, notifications, sweep, stop };
}
