import { readFileSync } from 'node:fs';
import path from 'node:path';
import { clientLogins } from '../projections/client-logins.ts';
import { collections } from '../projections/collections.ts';
import { depositStatus } from '../projections/deposit-status.ts';
import { startAnchoring } from './anchors/anchor-follower.ts';
import type { ArchiveStore } from './archive-store/archive-store.ts';
import { openArchiveStore } from './archive-store/open-archive-store.ts';
import { ArchiveWorkers } from './archives/archive-workers.ts';
import type { Config, EventLogConfig } from './config.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { DepositIds } from './deposit-ids.ts';
import type { Deliveries } from './event-log/deliveries.ts';
import type { EventLog } from './event-log/event-log.ts';
import { LoggedEventLog } from './event-log/logged-event-log.ts';
import { openDeliveries, openEventLog } from './event-log/open-event-log.ts';
import { type ClientOptions, createApp } from './http/app.ts';
import { Credentials } from './http/credentials.ts';
import { DepositDesk } from './http/deposit-desk.ts';
import type { ReadinessChecks } from './http/health.ts';
import { Server } from './http/server.ts';
import type { Logger } from './logger.ts';
import { ServiceMetrics } from './metrics/service-metrics.ts';
import { OperatorServer } from './operator/operator-server.ts';
import { Checker } from './reactors/checker.ts';
import { Loader } from './reactors/loader.ts';
import { LogParking } from './reactors/parking.ts';
import { ReactorRunner } from './reactors/reactor-runner.ts';
import { Projector, type ProjectorProgress } from './read-models/projector.ts';
import { SqliteViewStore } from './read-models/sqlite-view-store.ts';
import { ViewFile } from './read-models/view-file.ts';
import { ViewFolder } from './read-models/view-folder.ts';
import type { Generator } from './sword/generator.ts';
import { type TracedParts, tracedParts } from './tracing/traced-parts.ts';
import { ResumableUploads } from './uploads/resumable-uploads.ts';

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

/** A view of this node as it is now, for commands that only look. @throws when the node keeps none. */
export function openView(config: Config, { name }: { readonly name: string }): ViewFile {
  const [folder] = viewsPlace(config);
  const views = new ViewFolder(folder);
  try {
    return ViewFile.openReadOnly(views.fileOf(name, views.current(name)), { name });
  } catch (cause) {
    const text = `There is no view ${name} in ${folder}: the service makes it when it starts, or "npm run rebuild".`;
    throw Object.assign(new Error(text, { cause }), { code: 'NO_VIEW' });
  }
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

  const node: Node = { config, log, store, traced, logger, resources, fail: failure.reject };
  const baseUrl = config.baseUrl ?? server.url;
  const generator = { ...manifest(), uri: baseUrl };
  const about = { depositNamespace: config.depositNamespace, generator, observer: metrics.http };
  const clients = config.roles.includes('http')
    ? serveClients(node, { baseUrl, ...about, uploads: await openUploads(node) }, progress)
    : undefined;
  const reactors = config.roles.includes('reactors') ? react(node, deliveries) : undefined;
  const readiness = {
    'event log': async () => void (await log.head()),
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
  const startedAt = new Date().toISOString();
  const state = async () => ({
    ...manifest(),
    pid: process.pid,
    url: baseUrl,
    roles: config.roles,
    startedAt,
    views: clients?.projector.reached ?? [],
    following: clients?.projector.trouble ?? null,
    reactors: await Promise.all(
      (reactors?.runners ?? []).map(async ({ standing, streamPrefix }) => {
        return { ...standing, delivery: await deliveries.standing(standing.name, streamPrefix) };
      }),
    ),
  });
  const adopt = async (generations: unknown) => clients && adoptViews(clients.projector, generations, logger);
  const [host, port] = [config.operatorHost, config.operatorPort];
  const routes = { 'GET /state': state, 'POST /views': adopt };
  metrics.observe({ config, ...manifest(), server, readiness, log, clients, reactors });
  const exposition = () => metrics.exposition();
  resources.use(
    await OperatorServer.listen({ host, port, dataDir: config.dataDir, routes, metrics: exposition }),
  );
  resources.use(startAnchoring(log, config, logger));
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
  /** Ends the service: it cannot go on. */
  readonly fail: (error: unknown) => void;
};

/** Uploads that come in pieces lie on the node that takes them. */
async function openUploads({ config, logger, resources }: Node): Promise<ResumableUploads | undefined> {
  const { uploadLimits: limits, dataDir } = config;
  if (limits.maxSize === 0) return undefined;
  const folder = path.join(dataDir, 'uploads');
  return resources.use(await ResumableUploads.open({ folder, limits, logger }));
}

/** The views of this node, and the desk where requests meet the log. */
function serveClients(
  { config, log, store, resources, fail }: Node,
  about: Pick<ClientOptions, 'baseUrl' | 'generator' | 'uploads'>,
  progress?: ProjectorProgress,
) {
  const views = resources.use(SqliteViewStore.open(...viewsPlace(config)));
  const projector = new Projector(log, views);
  resources.defer(() => projector.stop());
  const desk = new DepositDesk(log, new DepositIds(log), projector, config.eventLog.kind !== 'sqlite');
  const statuses = projector.add(depositStatus);
  const credentials = new Credentials(projector.add(clientLogins));
  const shownCollections = projector.add(collections);
  let caughtUp = false;
  const ready = projector.start(fail, progress).then(() => {
    caughtUp = true;
  });
  ready.catch(() => undefined); // `failed` tells it, too
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
      ready: () => caughtUp,
    },
    upToDate: async () => {
      if (!caughtUp) throw new Error('they catch up with the event log.');
      if (projector.trouble !== undefined) throw new Error(projector.trouble);
    },
  };
}

/** Starts checker and loader; what is returned tells whether each gets its events. */
function react({ config, log, store, traced, logger, resources, fail }: Node, deliveries: Deliveries) {
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
  return { runners, readiness, deliveries, workers };
}

/** A command has built these generations of views beside the service. */
async function adoptViews(projector: Projector, generations: unknown, logger: Logger) {
  const pauses: Record<string, number> = {};
  for (const [view, generation] of Object.entries(generations as Record<string, number>)) {
    const ms = await projector.adopt(view, generation);
    logger.info({ view, generation, ms }, 'view switched');
    pauses[view] = ms;
  }
  return pauses;
}

/** The folder of the views, and the log whose positions they keep. */
export function viewsPlace({ dataDir, eventLog }: Config): [folder: string, origin: string] {
  return [path.join(dataDir, 'views'), originOf(eventLog)];
}

/** Which log views are of: the positions of one mean nothing in another. */
function originOf(eventLog: EventLogConfig): string {
  if (eventLog.kind === 'sqlite') return 'sqlite';
  const [, hosts] = /^[^/]*\/\/(?:[^@/]*@)?([^/?]*)/.exec(eventLog.connectionString) ?? [];
  return `eventstoredb ${hosts}`;
}

/** Name and version of this software, named as the maker of every document. */
export function manifest(): Pick<Generator, 'name' | 'version'> {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { name, version } = JSON.parse(text) as { name: string; version: string };
  return { name, version };
}
