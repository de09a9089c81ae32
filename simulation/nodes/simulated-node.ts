import path from 'node:path';
import { clientLogins } from '../../projections/client-logins.ts';
import { type DepositParts, openDeposits } from '../../src/deposits/client-write.ts';
import { KeptStates } from '../../src/deposits/kept-states.ts';
import type { Deposit } from '../../src/domain/deposit/state.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { EventStoreDbDeliveries } from '../../src/event-log/eventstoredb/consumer-groups/eventstoredb-deliveries.ts';
import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import type { ResumableUploads } from '../../src/modules/resumable-uploads/resumable-uploads.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { type MinioArchiveStoreOptions, S3ObjectStore } from '../../src/object-store/s3/s3-object-store.ts';
import { logObserver, observedReader } from '../../src/observability/port-observers.ts';
import { EventLogParking } from '../../src/reactors/parking.ts';
import { RECEIVERS } from '../../src/reactors/reactor-names.ts';
import { notificationViews } from '../../src/reactors/sweep/notification-views.ts';
import { startReactors } from '../../src/service/start-reactors.ts';
import { observed } from '../../src/tools/observed.ts';
import { Projector } from '../../src/views/projector.ts';
import { SqliteViewStore } from '../../src/views/store/sqlite-view-store.ts';
import { type Host, type Incarnation, running } from '../world/host.ts';
import { newProcess } from '../world/outside-world.ts';
import { world } from '../world/world.ts';
import { drainBefore } from './drain-before.ts';
import { folderOf, shownIn, startEmbedded } from './embedded-node.ts';
import { nodeLogger } from './node-logger.ts';
import { BASE_URL, LOG_OPTIONS, MAX_ARCHIVES, reactorConfig, STORE_OPTIONS } from './site-settings.ts';

/** A running node: the parts that requests and invariants need. */
export type SimulatedNode = {
  readonly process: Incarnation;
  /** Returns a view of the node; `undefined` if it has none of this name. */
  readonly shown: (view: string) => ReadonlyMap<string, unknown> | undefined;
  readonly projector: Projector;
  readonly store: ObjectStore;
  /** Closed in the order of the service when the node stops. */
  readonly resources: AsyncDisposableStack;
  /** On HTTP nodes. */
  readonly deposits?: DepositParts;
  /** On nodes with `deposits`: requests that are not answered. A stop waits for them. */
  readonly openRequests?: Set<Promise<unknown>>;
  /** On embedded nodes. */
  readonly uploads?: ResumableUploads;
  /** On nodes with reactors. */
  readonly deliveries?: EventStoreDbDeliveries;
};

export type NodeOptions = {
  readonly stuckAfter: number;
  /** Receives what a node logs as an error. */
  readonly onError: (text: string) => void;
  /** Called when a node cannot go on. */
  readonly onFailure: (host: Host, error: unknown) => void;
  readonly onReady: (node: SimulatedNode) => void;
};

const RESTART_PAUSE_MS = 500;

/** Starts a process on a host. It is built from the parts of the service, as `src/service/service.ts` does it. */
export function boot(host: Host, options: NodeOptions): void {
  const process = newProcess(host);
  host.started(process);
  world().note('node', `boot ${host.name}`);
  const start = host.role === 'http' ? startHttp : startReactorNode;
  running.run(process, () => {
    const started =
      host.role === 'embedded'
        ? startEmbedded(process, options).then((node) => ready(node, options))
        : start(process, options);
    started.catch((error: unknown) => options.onFailure(host, error));
  });
}

/** Runs work of an operator, on a machine of its own. */
export async function asOperator<Result>(
  process: Incarnation,
  work: (log: EventLog, store: ObjectStore) => Promise<Result>,
): Promise<Result> {
  return running.run(process, async () => {
    await using log = await EventStoreDbEventLog.open(LOG_OPTIONS);
    await using store = await persistently(() => S3ObjectStore.open(STORE_OPTIONS));
    return await work(log, store);
  });
}

async function startHttp(process: Incarnation, options: NodeOptions): Promise<void> {
  const parts = await openParts(process, options);
  const { log, store, projector, resources } = parts;
  const deposits = openDeposits({ log, projector, isShared: true, maxArchives: MAX_ARCHIVES });
  projector.add(clientLogins);
  await persistently(() => projector.start((error) => options.onFailure(process.host, error)));
  const openRequests = drainBefore(resources, store);
  ready({ process, deposits, openRequests, ...parts }, options);
}

async function startReactorNode(process: Incarnation, options: NodeOptions): Promise<void> {
  const parts = await openParts(process, options);
  const { log, projector, resources } = parts;
  const groups = { receivers: RECEIVERS, retiredGroups: RECEIVERS };
  const deliveries = resources.use(new EventStoreDbDeliveries(log, { ...LOG_OPTIONS, ...groups }));
  const fail = (error: unknown): void => options.onFailure(process.host, error);
  const viewsReady = persistently(() => projector.start(fail));
  const config = reactorConfig(options.stuckAfter);
  const kept = new KeptStates<Deposit>();
  const parking = new EventLogParking(log);
  startReactors({ ...parts, config, kept, deliveries, parking, observedReader, fail }, BASE_URL, viewsReady);
  await viewsReady;
  ready({ process, deliveries, ...parts }, options);
}

/** Opens what every node has, in the order of `src/service/open-node.ts`. */
async function openParts(process: Incarnation, { onError }: NodeOptions) {
  const resources = new AsyncDisposableStack();
  const logger = nodeLogger(onError);
  const log = resources.use(observed(await EventStoreDbEventLog.open(LOG_OPTIONS), logObserver(logger)));
  const store = resources.use(await persistently(() => S3ObjectStore.open(storeOptions(process))));
  const views = resources.use(SqliteViewStore.open(path.join(folderOf(process), 'views'), 'simulation'));
  const projector = new Projector(log, views);
  resources.defer(() => projector.stop());
  const notified = notificationViews(projector);
  const shown = (name: string) => shownIn(views, name);
  return {
    log,
    store,
    shown,
    projector,
    logger,
    resources,
    notified,
  };
}

/** Bodies on their way are below a folder that there is. As in a service, only reactors read what was just stored. */
function storeOptions(process: Incarnation): MinioArchiveStoreOptions {
  const recent = process.host.role === 'reactors' && { recentBytes: 100_000 };
  return { ...STORE_OPTIONS, ...recent, temporaryFolder: path.join(folderOf(process), 'incoming') };
}

function ready(node: SimulatedNode, { onReady }: NodeOptions): void {
  node.process.isReady = true;
  world().note('node', `${node.process.name} is ready`);
  onReady(node);
}

/** Does what a supervisor does: a start that fails because an engine is away is repeated. */
async function persistently<Result>(start: () => Promise<Result>): Promise<Result> {
  while (true) {
    try {
      return await start();
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (code !== 'EVENT_LOG_UNAVAILABLE' && code !== 'ARCHIVE_STORE_UNAVAILABLE') throw error;
      await new Promise((resolve) => void setTimeout(resolve, RESTART_PAUSE_MS));
    }
  }
}
