import { readFileSync } from 'node:fs';
import path from 'node:path';
import { clientLogins } from '../projections/client-logins.ts';
import { collections } from '../projections/collections.ts';
import type { ArchiveStore } from './archive-store/archive-store.ts';
import { openArchiveStore } from './archive-store/open-archive-store.ts';
import { ArchiveWorkers } from './archives/archive-workers.ts';
import type { Config } from './config.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { DepositIds } from './deposit-ids.ts';
import type { Deliveries } from './event-log/deliveries.ts';
import type { EventLog } from './event-log/event-log.ts';
import { LoggedEventLog } from './event-log/logged-event-log.ts';
import { openDeliveries, openEventLog } from './event-log/open-event-log.ts';
import { createApp } from './http/app.ts';
import { DepositDesk } from './http/deposit-desk.ts';
import { Server } from './http/server.ts';
import type { Logger } from './logger.ts';
import { Checker } from './reactors/checker.ts';
import { Loader } from './reactors/loader.ts';
import { LogParking } from './reactors/parking.ts';
import { ReactorRunner } from './reactors/reactor-runner.ts';
import { Projector, type ProjectorProgress } from './read-models/projector.ts';
import { SqliteViewStore } from './read-models/sqlite-view-store.ts';
import type { Generator } from './sword/generator.ts';

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
/** Streams that a reactor works on at the same time; archives are read by fewer workers still. */
const REACTOR_CONCURRENCY = 8;

/** The event log alone, for commands that run beside the service. */
export function openLog({ eventLog }: Config): Promise<EventLog> {
  return openEventLog(eventLog);
}

/** Puts the service together and starts it. */
export async function startService(config: Config, { logger, progress }: ServiceOptions): Promise<Service> {
  await using resources = new AsyncDisposableStack();
  resources.use(lockDataFolder(config.dataDir));
  const log = resources.use(new LoggedEventLog(await openEventLog(config.eventLog), logger));
  const store = resources.use(await openArchiveStore(config.archiveStore, config.dataDir));
  const views = resources.use(SqliteViewStore.open(path.join(config.dataDir, 'views.sqlite')));
  const server = await Server.listen(config);
  resources.defer(() => server.close(DRAIN_PATIENCE));

  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined); // whoever waits for it hears of it
  const projector = new Projector(log, views);
  resources.defer(() => projector.stop());
  const baseUrl = config.baseUrl ?? server.url;
  const generator = { ...manifest(), uri: baseUrl };
  const desk = new DepositDesk(log, new DepositIds(log), projector);
  let caughtUp = false;
  const app = createApp({
    ...config,
    desk,
    store,
    logins: projector.add(clientLogins),
    collections: projector.add(collections),
    logger,
    readiness: {
      'event log': async () => void (await log.head()),
      'archive store': () => store.ready(),
      views: async () => {
        if (!caughtUp) throw new Error('they catch up with the event log.');
      },
    },
    ready: () => caughtUp,
    baseUrl,
    generator,
  });
  const handle = app.callback();
  server.serve((req, res) => void handle(req, res), { depositNamespace: config.depositNamespace, generator });
  const ready = projector.start(failure.reject, progress).then(() => {
    caughtUp = true;
  });
  ready.catch(() => undefined); // `failed` tells it, too

  const deliveries = await openDeliveries(config.eventLog, log, path.join(config.dataDir, 'checkpoints'));
  resources.defer(() => deliveries[Symbol.asyncDispose]?.());
  for (const runner of reactors(config, log, store, deliveries, logger, resources)) {
    runner.start(failure.reject);
    resources.defer(() => runner.stop());
  }
  const running = resources.move();
  return {
    url: server.url,
    log,
    store,
    ready,
    failed: failure.promise,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function reactors(
  config: Config,
  log: EventLog,
  store: ArchiveStore,
  deliveries: Deliveries,
  logger: Logger,
  resources: AsyncDisposableStack,
): ReactorRunner[] {
  const reader = resources.use(new ArchiveWorkers({ size: config.archiveWorkers }));
  const options = {
    deliveries,
    parking: new LogParking(log),
    logger,
    concurrency: REACTOR_CONCURRENCY,
  };
  return [
    new ReactorRunner(new Checker(log, store, reader, config.archiveLimits), options),
    new ReactorRunner(new Loader(log, store, reader, config.loaderIdentity), options),
  ];
}

/** Name and version of this software, named as the maker of every document. */
function manifest(): Pick<Generator, 'name' | 'version'> {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { name, version } = JSON.parse(text) as { name: string; version: string };
  return { name, version };
}
