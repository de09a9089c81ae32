import path from 'node:path';
import { clientLogins } from '../projections/client-logins.ts';
import { collections } from '../projections/collections.ts';
import { depositStatus } from '../projections/deposit-status.ts';
import { loadedObjects } from '../projections/loaded-objects.ts';
import { adoptViews } from './adopt-views.ts';
import { startAnchoring } from './anchors/anchor-follower.ts';
import type { ArchiveStore } from './archive-store/archive-store.ts';
import { openArchiveStore } from './archive-store/open-archive-store.ts';
import { ArchiveWorkers } from './archives/archive-workers.ts';
import { MemberReaders } from './archives/member-readers.ts';
import type { Config } from './config.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { DepositIds } from './deposit-ids.ts';
import type { Deliveries } from './event-log/deliveries.ts';
import type { EventLog } from './event-log/event-log.ts';
import { LoggedEventLog } from './event-log/logged-event-log.ts';
import { openDeliveries, openEventLog } from './event-log/open-event-log.ts';
import { type ClientOptions, createApp } from './http/app.ts';
import { Credentials } from './http/credentials.ts';
import { DepositDesk } from './http/deposit-desk.ts';
import { EventStreams } from './http/events/event-streams.ts';
import type { ReadinessChecks } from './http/health.ts';
import { Server } from './http/server.ts';
import type { Logger } from './logger.ts';
import { manifest } from './manifest.ts';
import { ServiceMetrics } from './metrics/service-metrics.ts';
import { type NotificationViews, notificationViews } from './notifications/notification-views.ts';
import { Notifications } from './notifications/notifications.ts';
import { OperatorServer } from './operator/operator-server.ts';
import { passwordRenewal } from './password-renewal.ts';
import { Checker } from './reactors/checker.ts';
import { Loader } from './reactors/loader.ts';
import { LogParking } from './reactors/parking.ts';
import { ReactorRunner } from './reactors/reactor-runner.ts';
import { Projector, type ProjectorProgress } from './read-models/projector.ts';
import { SqliteViewStore } from './read-models/sqlite-view-store.ts';
import { LoadedDeposits } from './resolving/loaded-deposits.ts';
import { ObjectBytes } from './resolving/object-bytes.ts';
import { Resolver } from './resolving/resolver.ts';
import { type TracedParts, tracedParts } from './tracing/traced-parts.ts';
import { openTrials } from './trials/open-trials.ts';
import { openUploads } from './uploads/open-uploads.ts';
import { viewsPlace } from './views-place.ts';
import { assertUpToDate } from './views-up-to-date.ts';

export { manifest } from './manifest.ts';
export { openView, viewsPlace } from './views-place.ts';

/** A running service. Disposing of it drains: running requests finish, reactors stop, everything is closed. */
export type Service = AsyncDisposable & {
  /** Where it listens. */
  readonly url: string;
  readonly log: EventLog;
  readonly store: ArchiveStore;
  /** Resolves when its views have caught up and it answers. */
  readonly ready: Promise<void>;
  /** Rejects if the service cannot go on. */
  readonly failed: Promise<never>;
};

export type ServiceOptions = {
  readonly logger: Logger;
  readonly progress?: ProjectorProgress;
};

/** How long running requests may take to finish when the service stops, in milliseconds. */
const DRAIN_PATIENCE = 20_000;
/** The names of all reactors. */
export const REACTORS = ['checker', 'loader'] as const;
/** Those and what follows deposits for others' sake: each may have events that wait for an operator. */
export const PARKING = [...REACTORS, 'notifier'] as const;
/** Streams that a reactor works on at the same time; archives are read by fewer workers still. */
const REACTOR_CONCURRENCY = 8;

/** The event log alone, for commands that run beside the service. */
export function openLog(
  { eventLog }: Pick<Config, 'eventLog'>,
  options: { readonly readOnly?: boolean } = {},
): Promise<EventLog> {
  return openEventLog(eventLog, options);
}

/** The archive store alone, for commands that run beside the service. */
export function openStore({
  archiveStore,
  dataDir,
}: Pick<Config, 'archiveStore' | 'dataDir'>): Promise<ArchiveStore> {
  return openArchiveStore(archiveStore, dataDir);
}

/** How far the reactors of a log are, for commands that look from outside. */
export function openDeliveriesOf(
  config: Config,
  log: EventLog,
): Promise<Deliveries & Partial<AsyncDisposable>> {
  return openDeliveries(config.eventLog, log, path.join(config.dataDir, 'checkpoints'));
}

/** Puts the service together and starts it. */
export async function startService(config: Config, { logger, progress }: ServiceOptions): Promise<Service> {
  await using resources = new AsyncDisposableStack();
  resources.use(lockDataFolder(config.dataDir));
  const metrics = new ServiceMetrics(logger);
  const traced = tracedParts(config.tracing);
  const engine = metrics.measuredLog(await openEventLog(config.eventLog));
  const log = resources.use(traced.log(new LoggedEventLog(engine, logger)));
  const opened = await openArchiveStore(config.archiveStore, config.dataDir);
  const store = resources.use(traced.store(metrics.measuredStore(opened)));
  const deliveries = await openDeliveriesOf(config, log);
  resources.defer(() => deliveries[Symbol.asyncDispose]?.());
  const server = await Server.listen(config);
  resources.defer(() => server.close(DRAIN_PATIENCE));
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined); // whoever waits for it hears of it

  const fail = failure.reject;
  const views = resources.use(SqliteViewStore.open(...viewsPlace(config)));
  const projector = new Projector(log, views);
  resources.defer(() => projector.stop());
  const notified = notificationViews(projector);
  const node: Node = { config, log, store, traced, logger, resources, projector, notified, fail };
  const baseUrl = config.baseUrl ?? server.url;
  const generator = { ...manifest(), uri: baseUrl };
  const about = { depositNamespace: config.depositNamespace, generator, observer: metrics.http };
  const clients = config.roles.includes('http')
    ? serveClients(
        node,
        {
          baseUrl,
          ...about,
          uploads: resources.use(await openUploads(config, logger)),
          trials: resources.use(await openTrials(config, (reader) => traced.reader(reader))),
        },
        progress,
      )
    : undefined;
  const viewsReady = clients?.ready ?? projector.start(fail, progress);
  viewsReady.catch(() => undefined); // `failed` tells it, too
  const reactors = config.roles.includes('reactors') ? react(node, deliveries, baseUrl) : undefined;
  let isStopping = false;
  const readiness = {
    service: async () => {
      if (isStopping) throw new Error('it is stopping.');
    },
    'event log': () => log.ready(),
    'archive store': () => store.ready(),
    ...(clients && { views: clients.upToDate }),
    ...reactors?.readiness,
  };
  const handle = createApp(
    { ...about, tracing: config.tracing, logger, readiness },
    clients?.options,
  ).callback();
  server.serve((req, res) => void handle(req, res), about);
  resources.defer(() => server.close(DRAIN_PATIENCE)); // before the views that requests under way still read
  if (clients) resources.use(clients.options.eventStreams); // ended first: they would not end by themselves
  if (clients) resources.defer(() => clients.options.uploads?.hurry());
  const startedAt = new Date().toISOString();
  const state = async () => ({
    ...manifest(),
    pid: process.pid,
    url: baseUrl,
    roles: config.roles,
    startedAt,
    views: clients?.projector.reached ?? [],
    following: clients?.projector.trouble ?? null,
    notifications: reactors?.notifications.standing ?? null,
    reactors: await Promise.all(
      (reactors?.runners ?? []).map(async ({ standing, streamPrefix }) => {
        return { ...standing, delivery: await deliveries.standing(standing.name, streamPrefix) };
      }),
    ),
  });
  const adopt = async (generations: unknown) => adoptViews(projector, generations, logger);
  const [host, port] = [config.operatorHost, config.operatorPort];
  const routes = { 'GET /state': state, 'POST /views': adopt };
  metrics.observe({ config, ...manifest(), server, readiness, log, clients, reactors });
  const exposition = () => metrics.exposition();
  resources.use(
    await OperatorServer.listen({ host, port, dataDir: config.dataDir, routes, metrics: exposition }),
  );
  resources.use(startAnchoring(log, config, logger));
  resources.defer(() => {
    isStopping = true;
  });
  const running = resources.move();
  return {
    url: server.url,
    log,
    store,
    ready: clients?.ready ?? Promise.resolve(),
    failed: failure.promise,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** What every part of a running node is put together with. */
type Node = {
  readonly config: Config;
  readonly log: EventLog;
  readonly store: ArchiveStore;
  readonly traced: TracedParts;
  readonly logger: Logger;
  readonly resources: AsyncDisposableStack;
  readonly projector: Projector;
  readonly notified: NotificationViews;
  /** Ends the service: it cannot go on. */
  readonly fail: (error: unknown) => void;
};

/** The views of this node, and the desk where requests meet the log. */
function serveClients(
  { config, log, store, logger, resources, projector, notified, fail }: Node,
  about: Pick<ClientOptions, 'baseUrl' | 'generator' | 'uploads' | 'trials'>,
  progress?: ProjectorProgress,
) {
  const desk = new DepositDesk(log, new DepositIds(log), projector, config.eventLog.kind !== 'sqlite');
  const statuses = projector.add(depositStatus);
  const credentials = new Credentials(projector.add(clientLogins), passwordRenewal(log, logger));
  const shownCollections = projector.add(collections);
  const eventStreams = new EventStreams({ log, projector, statuses });
  const loaded = new LoadedDeposits(projector.add(loadedObjects), projector, log);
  const readers = resources.use(new MemberReaders());
  let caughtUp = false;
  const ready = projector.start(fail, progress).then(() => {
    caughtUp = true;
  });
  return {
    ready,
    projector,
    statuses,
    options: {
      ...config,
      ...about,
      desk,
      store,
      credentials,
      collections: shownCollections,
      eventStreams,
      notified,
      resolver: new Resolver({ deposits: loaded, log, store }),
      objects: new ObjectBytes({ store, readers, limits: config.archiveLimits }),
      ready: () => caughtUp,
    },
    upToDate: async () => {
      if (!caughtUp) throw new Error('they catch up with the event log.');
      await assertUpToDate(projector, log);
    },
  };
}

/** Starts checker, loader and notifications; what is returned tells whether each gets its events. */
function react(node: Node, deliveries: Deliveries, baseUrl: string) {
  const { config, log, store, traced, logger, resources, fail } = node;
  const workers = resources.use(new ArchiveWorkers({ size: config.archiveWorkers }));
  const reader = traced.reader(workers);
  const options = { deliveries, parking: new LogParking(log), logger, concurrency: REACTOR_CONCURRENCY };
  const reactors = [
    new Checker(log, store, reader, config.archiveLimits),
    new Loader(log, store, reader, config.loaderIdentity),
  ];
  const runners = reactors.map((reactor) => new ReactorRunner(traced.reactor(reactor), options));
  for (const runner of runners) {
    runner.start(fail);
    resources.defer(() => runner.stop());
  }
  const check = (name: string) => async (): Promise<void> => {
    const trouble = deliveries.trouble(name);
    if (trouble !== undefined) throw new Error(trouble);
  };
  const readiness: ReadinessChecks = Object.fromEntries(reactors.map(({ name }) => [name, check(name)]));
  const notifications = resources.use(new Notifications({ ...node, deliveries, baseUrl, maker: manifest() }));
  return { runners, readiness, deliveries, workers, notifications };
}
