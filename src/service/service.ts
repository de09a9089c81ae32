import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import { packageInfo } from '../config/package-info.ts';
import type { EventLog } from '../event-log/event-log.ts';
import { createHandler } from '../http/app.ts';
import type { ReadinessChecks } from '../http/middleware/health.ts';
import { Server } from '../http/server/server.ts';
import type { Module } from '../modules/module.ts';
import { MODULES } from '../modules/modules.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { httpMetrics } from '../observability/http-metrics.ts';
import { receiversOf } from '../reactors/reactor-names.ts';
import { SWORD_ERRORS } from '../sword/sword-error.ts';
import { AbortGate } from '../tools/concurrency/abort-gate.ts';
import type { Logger } from '../tools/logger.ts';
import type { ProjectorProgress } from '../views/projector.ts';
import { assertNoUnfinishedCopy } from './backends/unfinished-copy.ts';
import { logLostThreads } from './lost-threads.ts';
import { observeClients } from './metrics/client-metrics.ts';
import { observeAnchoring, observeNode, observeSnapshots } from './metrics/node-metrics.ts';
import { observeReactors, observeStuck } from './metrics/reactor-metrics.ts';
import { observeViews } from './metrics/view-metrics.ts';
import { NodePresence } from './nodes/node-presence.ts';
import { type NodeResources, openNode, startSnapshots } from './open-node.ts';
import { lockDataFolderSoon } from './operator-port/data-directory-lock.ts';
import { serveClients } from './serve-clients.ts';
import { serveOperators } from './serve-operators.ts';
import { reactorsWith, startReactors } from './start-reactors.ts';
import { viewsUpToDate } from './views-up-to-date.ts';

/** A running service. Disposing of it drains: running requests finish, reactors stop, everything is closed. */
export type Service = AsyncDisposable & {
  /** Where it listens. */
  readonly url: string;
  readonly log: EventLog;
  readonly store: ObjectStore;
  /** Resolves when its views have caught up and it does its work; rejects if it stops before. */
  readonly ready: Promise<void>;
  /** Rejects if the service cannot go on. */
  readonly failed: Promise<never>;
};

type ServiceOptions = {
  readonly logger: Logger;
  readonly progress?: ProjectorProgress;
  /** Ends the start while it runs; it has no effect later. */
  readonly stop?: AbortSignal;
  /** The optional capabilities; all of them by default. */
  readonly modules?: readonly Module[];
};

/** How long running requests may take to finish when the service stops. */
const DRAIN_TIMEOUT_MS = 20_000;

/** Puts the service together and starts it. @throws the reason of `stop`, when all is closed that was open by then. */
export async function startService(config: Config, { stop, ...options }: ServiceOptions): Promise<Service> {
  stop?.throwIfAborted();
  const [resources, untilStopped] = [new AsyncDisposableStack(), new AbortGate()];
  const cut = (): void => untilStopped.abort(stop?.reason);
  stop?.addEventListener('abort', cut);
  try {
    return await untilStopped.race(start(config, options, resources));
  } catch (error) {
    await resources.disposeAsync(); // which ends what the start waits for
    throw error;
  } finally {
    stop?.removeEventListener('abort', cut);
  }
}

async function start(
  config: Config,
  { logger, progress, modules = MODULES }: ServiceOptions,
  resources: AsyncDisposableStack,
): Promise<Service> {
  resources.use(logLostThreads(logger));
  resources.use(await lockDataFolderSoon(config));
  await assertNoUnfinishedCopy(config.eventLog, logger);
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined); // handled where `failed` is awaited
  const node = await openNode(config, receiversOf(reactorsWith(modules)), logger, resources, failure.reject);
  await registerNode(node);
  const server = await Server.listen(config);
  resources.defer(() => server.close(DRAIN_TIMEOUT_MS));
  const baseUrl = config.baseUrl ?? server.url;
  const [serves, reacts] = (['http', 'reactors'] as const).map((role) => config.roles.includes(role));
  const clients = serves ? await serveClients(node, baseUrl, modules, progress) : undefined;
  const stopping = new AbortGate();
  const viewsReady = stopping.race(clients?.ready ?? node.projector.start(failure.reject, progress));
  viewsReady.catch(failure.reject); // without views no client is answered or notified
  const reactors = reacts ? startReactors(node, baseUrl, viewsReady, modules) : undefined;
  const readiness = readinessOf(node, stopping, reactors);
  const anchoring = modules.find(({ anchor }) => anchor)?.anchor?.(node);
  const snapshots = serves ? startSnapshots(node, viewsReady) : undefined;
  for (const part of [anchoring, snapshots]) if (part) resources.use(part);
  const parts = { server, clients, readiness, reactors, anchoring, snapshots };
  answerRequests(node, baseUrl, parts);
  resources.defer(() => drain(node, parts));
  observeService(node, parts);
  const moduleRoutes = Object.assign(
    {},
    ...(clients?.options.modules ?? []).map((one) => one.operatorRoutes),
  );
  await serveOperators(node, baseUrl, { reactors, readiness, moduleRoutes });
  resources.defer(() => stopping.abort(new Error('The service is stopping.'))); // views that have not caught up will not
  const running = resources.move();
  return {
    url: server.url,
    log: node.log,
    store: node.store,
    ready: viewsReady,
    failed: failure.promise,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type Clients = Awaited<ReturnType<typeof serveClients>> | undefined;
type Reactors = ReturnType<typeof startReactors> | undefined;

type Parts = {
  readonly server: Server;
  readonly clients: Clients;
  readonly readiness: ReadinessChecks;
  readonly reactors: Reactors;
  readonly anchoring: ReturnType<NonNullable<Module['anchor']>> | undefined;
  readonly snapshots: ReturnType<typeof startSnapshots>;
};

/** Registers a node of a log that other nodes may use as well. */
async function registerNode({
  config,
  log,
  projector,
  logger,
  resources,
  fail,
}: NodeResources): Promise<void> {
  if (config.eventLog.kind === 'sqlite') return;
  const name = `${hostname()}:${config.dataDir}`;
  await resources.use(new NodePresence({ log, projector, logger, node: name, fail })).start();
}

function readinessOf(
  { log, store, projector }: NodeResources,
  stopping: AbortGate,
  reactors: Reactors,
): ReadinessChecks {
  return {
    service: async () => {
      if (stopping.isAborted) throw new Error('it is stopping.');
    },
    'event log': () => log.ready(),
    'archive store': () => store.ready(),
    views: viewsUpToDate(projector, log), // reactors on EventStoreDB begin with them
    ...reactors?.readiness,
  };
}

function answerRequests(
  { config, metrics, logger, parking }: NodeResources,
  baseUrl: string,
  { server, clients, readiness }: Parts,
): void {
  const about = {
    depositNamespace: config.depositNamespace,
    generator: { ...packageInfo(), uri: baseUrl },
    observer: httpMetrics(metrics, SWORD_ERRORS),
    logger,
  };
  server.serve(
    createHandler({ ...about, readiness, parked: () => parking.count() }, clients?.options),
    about,
  );
}

/** Finishes running requests and the work of the reactors. */
async function drain({ store }: NodeResources, parts: Parts): Promise<void> {
  const { server, clients, reactors, anchoring, snapshots } = parts;
  for (const module of clients?.options.modules ?? []) module.stop?.();
  const drained = server.close(DRAIN_TIMEOUT_MS); // before the views that requests under way still read
  const others = [anchoring, snapshots].map((one) => one?.[Symbol.asyncDispose]());
  await Promise.all([drained, reactors?.stop(), ...others]);
  await store[Symbol.asyncDispose](); // its remaining work is unused, and the disposal of other parts must not wait for it
}

function observeService(
  { config, metrics, notified, log, projector, parking }: NodeResources,
  parts: Parts,
): void {
  const { server, clients, readiness, reactors, anchoring, snapshots } = parts;
  observeStuck(metrics, notified.statuses, config.stuckAfter);
  if (anchoring) observeAnchoring(metrics, anchoring);
  observeSnapshots(metrics, projector, snapshots);
  observeNode(metrics, config, readiness, server);
  observeViews(metrics, log, projector);
  if (clients) observeClients(metrics, clients, projector);
  if (reactors) observeReactors(metrics, parking, reactors);
}
