import { clientLogins } from '../../projections/client-logins.ts';
import type { ArchiveStore } from '../../src/archive-store/archive-store.ts';
import { MinioArchiveStore } from '../../src/archive-store/minio/minio-archive-store.ts';
import { DepositIds } from '../../src/deposit-ids.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { EventStoreDbDeliveries } from '../../src/event-log/eventstoredb/eventstoredb-deliveries.ts';
import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import { LoggedEventLog } from '../../src/event-log/logged-event-log.ts';
import { DepositDesk } from '../../src/http/deposit-desk.ts';
import { notificationViews } from '../../src/notifications/notification-views.ts';
import { RECEIVERS } from '../../src/reactors/reactor-names.ts';
import { Projector } from '../../src/read-models/projector.ts';
import type { Node } from '../../src/service/node.ts';
import { startReactors } from '../../src/service/start-reactors.ts';
import { tracedParts } from '../../src/tracing/traced-parts.ts';
import { MemoryViewStore } from '../views/memory-view-store.ts';
import { type Host, type Incarnation, running } from '../world/host.ts';
import { newProcess } from '../world/outside-world.ts';
import { world } from '../world/world.ts';
import { nodeLogger } from './node-logger.ts';
import { BASE_URL, LOG_OPTIONS, reactorConfig, STORE_OPTIONS } from './site-settings.ts';

/** A running node: the parts that requests and invariants need. */
export type SimulatedNode = {
  readonly process: Incarnation;
  readonly views: MemoryViewStore;
  readonly projector: Projector;
  readonly store: ArchiveStore;
  /** Closed in the order of the service when the node stops. */
  readonly resources: AsyncDisposableStack;
  /** On HTTP nodes. */
  readonly desk?: DepositDesk;
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

/** Starts a process on a host. It is built from the parts of the service, as `src/service.ts` does it. */
export function boot(host: Host, options: NodeOptions): void {
  const process = newProcess(host);
  host.process = process;
  world().note('node', `boot ${host.name}`);
  const start = host.role === 'http' ? startHttp : startReactorNode;
  running.run(process, () => {
    start(process, options).catch((error: unknown) => options.onFailure(host, error));
  });
}

/** Runs work of an operator, on a machine of its own. */
export async function asOperator<Result>(
  process: Incarnation,
  work: (log: EventLog, store: ArchiveStore) => Promise<Result>,
): Promise<Result> {
  return running.run(process, async () => {
    await using log = await EventStoreDbEventLog.open(LOG_OPTIONS);
    await using store = await persistently(() => MinioArchiveStore.open(STORE_OPTIONS));
    return await work(log, store);
  });
}

async function startHttp(process: Incarnation, options: NodeOptions): Promise<void> {
  const parts = await openParts(process, options);
  const { log, projector } = parts;
  const desk = new DepositDesk(log, new DepositIds(log), projector, true);
  projector.add(clientLogins);
  await persistently(() => projector.start((error) => options.onFailure(process.host, error)));
  ready({ process, desk, ...parts }, options);
}

async function startReactorNode(process: Incarnation, options: NodeOptions): Promise<void> {
  const parts = await openParts(process, options);
  const { log, store, projector, logger, notified, resources } = parts;
  const groups = { receivers: RECEIVERS, retiredGroups: RECEIVERS };
  const deliveries = resources.use(new EventStoreDbDeliveries(log, { ...LOG_OPTIONS, ...groups }));
  const fail = (error: unknown): void => options.onFailure(process.host, error);
  const viewsReady = persistently(() => projector.start(fail));
  const config = reactorConfig(options.stuckAfter);
  const traced = tracedParts(false);
  const node = { config, log, store, deliveries, traced, logger, resources, projector, notified, fail };
  startReactors(node as unknown as Node, BASE_URL, viewsReady); // metrics have timers of their own
  await viewsReady;
  ready({ process, deliveries, ...parts }, options);
}

/** Opens what every node has, in the order of `src/service/node.ts`. */
async function openParts(process: Incarnation, { onError }: NodeOptions) {
  const resources = new AsyncDisposableStack();
  const logger = nodeLogger(onError);
  const log = resources.use(new LoggedEventLog(await EventStoreDbEventLog.open(LOG_OPTIONS), logger));
  const store = resources.use(await persistently(() => MinioArchiveStore.open(STORE_OPTIONS)));
  const views = new MemoryViewStore(process.host);
  const projector = new Projector(log, views);
  resources.defer(() => projector.stop());
  return { log, store, views, projector, logger, resources, notified: notificationViews(projector) };
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
