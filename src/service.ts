import { startAnchoring } from './anchors/anchor-follower.ts';
import type { ArchiveStore } from './archive-store/archive-store.ts';
import type { Config } from './config.ts';
import { CutOff } from './cut-off.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import type { EventLog } from './event-log/event-log.ts';
import { createHandler } from './http/app.ts';
import { Server } from './http/connections/server.ts';
import type { ReadinessChecks } from './http/health.ts';
import type { Logger } from './logger.ts';
import { manifest } from './manifest.ts';
import { parkedCount } from './metrics/parked-count.ts';
import { PARKING } from './reactors/reactor-names.ts';
import type { ProjectorProgress } from './read-models/projector.ts';
import { openNode } from './service/node.ts';
import { serveClients } from './service/serve-clients.ts';
import { serveOperators } from './service/serve-operators.ts';
import { startReactors } from './service/start-reactors.ts';

/** A running service. Disposing of it drains: running requests finish, reactors stop, everything is closed. */
export type Service = AsyncDisposable & {
  /** Where it listens. */
  readonly url: string;
  readonly log: EventLog;
  readonly store: ArchiveStore;
  /** Resolves when its views have caught up and it does its work. */
  readonly ready: Promise<void>;
  /** Rejects if the service cannot go on. */
  readonly failed: Promise<never>;
};

export type ServiceOptions = {
  readonly logger: Logger;
  readonly progress?: ProjectorProgress;
  /** Ends the start while it is under way; later it does nothing. */
  readonly stop?: AbortSignal;
};

/** How long running requests may take to finish when the service stops, in milliseconds. */
const DRAIN_PATIENCE = 20_000;

/** Puts the service together and starts it. @throws the reason of `stop`, when all is closed that was open by then. */
export async function startService(config: Config, { stop, ...options }: ServiceOptions): Promise<Service> {
  stop?.throwIfAborted();
  const [resources, untilStopped] = [new AsyncDisposableStack(), new CutOff()];
  const cut = (): void => untilStopped.cut(stop?.reason);
  stop?.addEventListener('abort', cut);
  try {
    return await untilStopped.unless(start(config, options, resources));
  } catch (error) {
    await resources.disposeAsync(); // which ends what the start waits for
    throw error;
  } finally {
    stop?.removeEventListener('abort', cut);
  }
}

async function start(
  config: Config,
  { logger, progress }: ServiceOptions,
  resources: AsyncDisposableStack,
): Promise<Service> {
  resources.use(lockDataFolder(config.dataDir));
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined); // whoever waits for it hears of it
  const node = await openNode(config, logger, resources, failure.reject);
  const { log, store, metrics, projector } = node;
  const server = await Server.listen(config);
  resources.defer(() => server.close(DRAIN_PATIENCE));
  const baseUrl = config.baseUrl ?? server.url;
  const about = {
    depositNamespace: config.depositNamespace,
    generator: { ...manifest(), uri: baseUrl },
    observer: metrics.http,
  };
  const [serves, reacts] = (['http', 'reactors'] as const).map((role) => config.roles.includes(role));
  const clients = serves ? await serveClients(node, { baseUrl, ...about }, progress) : undefined;
  const viewsReady = clients?.ready ?? projector.start(failure.reject, progress);
  viewsReady.catch(failure.reject); // without views nobody is answered, nor notified
  const reactors = reacts ? startReactors(node, baseUrl, viewsReady) : undefined;
  let isStopping = false;
  const readiness: ReadinessChecks = {
    service: async () => {
      if (isStopping) throw new Error('it is stopping.');
    },
    'event log': () => log.ready(),
    'archive store': () => store.ready(),
    ...(clients && { views: clients.upToDate }),
    ...reactors?.readiness,
  };
  const parked = parkedCount(log, PARKING);
  const handler = createHandler(
    { ...about, tracing: config.tracing, logger, readiness, parked },
    clients?.options,
  );
  server.serve(handler, about);
  const anchoring = resources.use(startAnchoring(log, config, logger));
  resources.defer(async () => {
    clients?.options.uploads?.hurry();
    clients?.options.eventStreams[Symbol.dispose](); // they would not end by themselves
    const drained = server.close(DRAIN_PATIENCE); // before the views that requests under way still read
    await Promise.all([drained, reactors?.stop(), anchoring[Symbol.asyncDispose]()]);
    await store[Symbol.asyncDispose](); // what it still does is for nobody, and must not be waited for elsewhere
  });
  const { notified } = node;
  metrics.observe({ config, ...manifest(), server, readiness, log, anchoring, notified, clients, reactors });
  await serveOperators(node, baseUrl, { reactors });
  resources.defer(() => {
    isStopping = true;
  });
  const running = resources.move();
  return {
    url: server.url,
    log,
    store,
    ready: viewsReady,
    failed: failure.promise,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
